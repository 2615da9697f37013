#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make pictures: page_pictures.sh [EXPERIMENT]
#
# Makes docs/pictures/: the page as a whole, and each of its views, from a recording of a known load.
# Needs root to record, chromium, and npm's playwright-core. pngquant makes the files small.
. "$(dirname "$0")/tools.sh"
. "$top/tests/lib/export.sh"
need_page
command -v pngquant >/dev/null || skip_all "pngquant is not installed"

cat >"$tmp/steps.js" <<'EOJ'
const dir = process.env.pictures

async function shoot(page, name, clip) {
	await page.waitForTimeout(300)
	await page.screenshot({ path: `${dir}/${name}.png`, clip })
	console.log('ok ' + name)
}

// The page as a whole, with a state from the address.
async function whole(t, name, options) {
	const page = await t.openPage(t.browser, 'load.html', options)
	await shoot(page, name)
	await t.closePage(page)
}

// What is below the timeline.
async function view(page, id, steps) {
	await page.click('#tab-' + id)
	for (const step of steps || [])
		await page.click(step)
	const box = await page.locator('nav').boundingBox()
	await shoot(page, id, { x: 0, y: box.y, width: 1280, height: Math.min(340, 900 - box.y) })
}

const steps = { source: ['#view-source button:text-is("Source")'], experiments: ['#view-experiments button[value=statistics]'] }

module.exports = async t => {
	await whole(t, 'page', {})
	await whole(t, 'dark', { colorScheme: 'dark', hash: '#view="flame"&metric="total"' })
	await whole(t, 'range', { hash: '#from=1500000&to=2500000&view="waits"&metric="wait"' })
	await whole(t, 'function', { hash: '#view="functions"&color="leaf"&viewFrom=1000000&viewTo=1200000' })
	const compare = '#view="compare"&a=[0,1500000,2500000]&b=[0,2500000,3500000]'
	const sides = await t.openPage(t.browser, 'load.html', { hash: compare })
	await view(sides, 'compare')
	await t.closePage(sides)
	const page = await t.openPage(t.browser, 'load.html')
	await page.click('#tab-functions')
	await page.click('#view-functions .tr:has(.td:last-child:text-is("alpha"))')
	await view(page, 'functions')
	await view(page, 'callers')
	await page.click('#tab-source')
	await page.click('#details .close')
	await page.selectOption('#view-source select', { label: 'alpha' })
	await page.click('#details .close')
	for (const id of await page.$$eval('#tabs button:not([hidden])', all => all.map(b => b.id.slice(4)))) {
		if (!['compare', 'functions', 'callers'].includes(id))
			await view(page, id, steps[id])
	}
	t.check('no complaint', !page.complaints.length, page.complaints.join('\n'))
	await t.closePage(page)
}
EOJ

# The load: two threads compute, others fight for a lock and send each other messages, one reads.
fresh
if [ -n "${1:-}" ]; then
	cp -R "$1" load.1.er
else
	cp "$syn/contend" "$syn/spin" "$syn/sysload" .
	cat >load <<-'END'
	#!/bin/sh
	echo $$ >pids
	./contend 3 >/dev/null & echo $! >>pids
	./sysload zero:0.5 ppid:0.4 >/dev/null & echo $! >>pids
	./spin -t 2 'outer>alpha:1' beta:0.6 >/dev/null & echo $! >>pids
	wait
	END
	chmod +x load
	er_kernel -o load.1.er ./load >/dev/null || { not_ok "the load is recorded"; exit 1; }
fi
# By name if it was recorded elsewhere.
of_load='COMM == "contend|spin|sysload|load"'
[ ! -s pids ] || of_load=$(sed 's/^/PID == /' pids | paste -sd'|' | sed 's/|/ || /g')
# Only the load: other programs of this machine are nobody's business.
check "the page is written" er_export --to page -filters "$of_load" -o load.html load.1.er
pictures=$top/docs/pictures
export pictures
mkdir -p "$pictures"
in_browser
for f in "$pictures"/*.png; do
	pngquant --nofs --force --skip-if-larger --output "$f" 24 "$f"
	check_that "$(basename "$f") is smaller than 60 kB" "$(wc -c <"$f") < 60000"
done
