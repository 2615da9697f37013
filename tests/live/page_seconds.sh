#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The page of a recording of this machine: between usage samples its times are those of er_print -exact_states, with
# exact user time, over a pause and after a kill, too. Within a second they are within their errors.
# Time limit: 300 s
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/recorders.sh" || exit 1
PATH=$O/bin:$PATH
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
const { differences, said } = require(process.env.top + '/tests/lib/page_seconds.js')
const wait = 'body.seconds'

async function compare(t, page, file, what) {
	const command = t.shellWords(await page.textContent('.command')).slice(1), diff = await differences(t, page, [...command, '-exact_states', file + '.er'])
	t.check(`${file}: ${what}: equal to er_print`, !diff && /exact, from/.test(await said(page)), `${diff} ${command} ${await said(page)}`)
}

module.exports = async t => {
	for (const file of ['e', 'u', 'p', 'k']) {
		const page = await t.openPage(t.browser, file + '.html', { hash: '#view="threads"', wait })
		await compare(t, page, file, 'whole recording')
		await page.evaluate(() => { location.hash = '#view="threads"&from=1300000&to=2900000' })
		await page.waitForSelector('.whole')
		t.check(`${file}: within a second: an estimate with an error`, /±/.test(await page.innerText('.legend')), await page.innerText('.legend'))
		await page.keyboard.press('e')
		await compare(t, page, file, 'whole seconds')
		await page.dblclick('#view-threads .tbody .tr >> nth=1')
		await compare(t, page, file, 'the busiest thread')
		if (file === 'u')
			t.check('u: exact user time has no mark', !/~/.test(await page.innerText('.legend')), await page.innerText('.legend'))
		t.check(`${file}: no complaint`, !page.complaints.length, page.complaints.join('\n'))
		await t.closePage(page)
	}
}
EOJ

must_record e.er "$syn/phases" 4
must_record u.er --exact-user "$syn/phases" 4
start k.er -t 60
sleep 4.5
kill -9 $pid
wait $pid 2>/dev/null
start p.er -t 60
sleep 2.2
ctl pause --pid $pid
sleep 1.5
ctl resume --pid $pid
sleep 2.3
ctl stop --pid $pid
wait $pid
to_page e u k p
node "$top/tests/lib/page_estimates.mjs" "$top/analysis/export/page/" e.html >estimates 2>&1
compared=$(awk '$1 == "compared" { print $2 }' estimates)
check_that "times within a second are estimated with honest errors" \
	"${compared:-0} > 20 && $(awk '$1 == "within" { print $2 }' estimates) >= 0.9 * ${compared:-0}" "$(cat estimates)"
sums=$(awk '$1 == "sums" { print $2 }' estimates)
check_that "and so are their sums over all threads" \
	"${sums:-0} > 4 && $(awk '$1 == "sums_within" { print $2 }' estimates) >= 0.9 * ${sums:-0}" "$(cat estimates)"
export top
in_browser
