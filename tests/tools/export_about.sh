#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to page: the tab About says what the file gives away, and what it does not have, as soon as the index is
# read. Whoever hands a page on relies on it.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"
need_page

cat >"$tmp/steps.js" <<'EOJ'
// Of a page: beginnings of what it must list; what the list must not have; the beginning of what is said to be missing.
const everywhere = /^Names of functions/
const always = [everywhere, /^The recorder's command line, working directory, .* -C;/, /^Paths of experiments/]
const pages = {
	code: [[...always, /^Source text and instructions of [1-9]\d* functions, which --no-source leaves out/], [/files that were opened/], /^Not in this file: command lines of processes; names of opened files/],
	nosource: [always, [/Source text/], /^Not in this file: source text and instructions; /],
	lives: [[...always, /^Command lines and cgroups of 9 processes/], [/locks\.$/], /^Not in this file: source text and instructions; names of opened files/],
	c: [[...always, /^Names of files that were opened/, /^Sizes of memory blocks/], [/^Cgroups/], /cgroups of threads; addresses of locks/],
	data: [[...always, /^Names of variables/], [/files that were opened/], /names of opened files; .*addresses of memory blocks/],
	w: [[...always, /^Addresses of user locks/, /^The filter of er_print/], [/Names of spans/], /arguments of calls/],
	spans: [[...always, /^Names of spans/, /^Arguments of the calls/], [], /addresses of memory blocks\.$/],
	lesscode: [[everywhere], [], /^Not in this file, which was written with --redact: source text and instructions; command lines of processes; names of opened files; the recorder's command, directory and notes, host, date; cgroups of threads; paths and addresses of functions; /],
	lessc: [[everywhere], [], /--redact: .*names of opened files; .*; addresses of memory blocks; arguments of calls\.$/],
	lessspans: [[everywhere, /^Names of spans/], [/Arguments/], /arguments of calls\.$/],
}

module.exports = async t => {
	for (const [name, [has, lacks, missing]] of Object.entries(pages)) {
		const page = await t.openPage(t.browser, name + '.html', { hash: '#view="about"' })
		const list = await page.$$eval('#view-about li', all => all.map(e => e.textContent)), last = await page.textContent('#view-about p:last-child')
		t.check(`${name}: the list has what is there`, has.every(h => list.filter(l => h.test(l)).length === 1), list.join('\n'))
		t.check(`${name}: and nothing else`, !lacks.some(h => list.some(l => h.test(l))) && (!name.startsWith('less') || list.length === has.length), list.join('\n'))
		t.check(`${name}: what is missing is said`, /^It has nothing else of the contents/.test(last) && missing.test(last.replace(/.*packets\. /, '')), last)
		t.check(`${name}: no complaint`, !page.complaints.length, page.complaints.join('\n'))
		await t.closePage(page)
	}
	// The rest of the file is not there.
	const cut = await t.openPage(t.browser, 'cutcode.html', { hash: '#view="about"', wait: 'body.ready' })
	t.check('source is said to be there before it is read', /Source text and instructions of/.test(await cut.textContent('#view-about ul')), await cut.textContent('#view-about'))
	await t.closePage(cut)
}
EOJ

export_fixtures
put data.1.er data.er
put lives.1.er lives.er
put spans.1.er spans.er
put_code code.er
to_page c data lives spans
check "w: is written" er_export --to page -filters 'PID == 12' -o w.html w.er
check "code: is written" er_export --to page -setpath made/src -o code.html code.er
check "nosource: is written" er_export --to page --no-source -setpath made/src -o nosource.html code.er
for e in code c spans; do
	check "$e: --redact" er_export --to page --redact -setpath made/src -o "less$e.html" "$e.er"
done
sed '/data-pack="events"/,$d' code.html >cutcode.html
to_page t
check "t: --redact" er_export --to page --redact -o lesst.html t.er
check_that "--redact leaves out labels of samples" "$(pack t.html index | grep -c '"middle"') == 1 && $(pack lesst.html index | grep -c '"middle"') == 0" "$(pack lesst.html index | grep -o 'samples.*')"
in_browser
