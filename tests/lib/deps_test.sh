#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# install-deps.sh: which packages it requests from apt-get, and its message if that fails.
. "$(dirname "$0")/tap.sh"

# A simulated machine: the packages $have are installed, $who is the user's id, $apt is
# apt-get's error.
mkdir bin
stub() { { echo '#!/bin/sh'; cat; } >"bin/$1" && chmod +x "bin/$1"; }
stub dpkg-query <<'END'
for last; do :; done
case " $have " in *" $last "* | *" all "*) printf 'install ok installed' ;; *) exit 1 ;; esac
END
stub id <<'END'
echo "$who"
END
stub apt-get <<'END'
echo "$@" >>apt.calls
[ "$1" = install ] || exit 100
[ -z "$apt" ] || { echo "Reading package lists..."; echo "E: $apt"; echo "E: and more"; exit 100; }
END
mkdir "$tmp/left"
deps()
{
	: >apt.calls
	PATH=$tmp/bin:$PATH have=$have who=$who apt=$apt TMPDIR=$tmp/left \
		"$top/tools/install-deps.sh" "$@" >out 2>&1
	status=$?
}

have=all who=1000 apt=
deps
check_that "silent if nothing is missing" "$status == 0 && $(wc -c <out) == 0" "$(cat out)"
check_that "apt-get is not called" "$(wc -l <apt.calls) == 0" "$(cat apt.calls)"

have="gcc make" who=1000
deps
check_that "an ordinary user gets one line with the missing packages" "$status == 1 &&
	$(wc -l <out) == 1 && $(grep -c '^install-deps: missing packages: clang.*as root' out) == 1" "$(cat out)"

have= who=0
deps build
check_that "root gets the packages, even if one source is out of reach" "$status == 0 &&
	$(grep -c '^install .* gcc .*libbpf-dev' apt.calls) == 1" "$(cat out apt.calls)"
check_that "build installs no packages that only tests need" "$(grep -c libcmocka apt.calls) == 0"
deps
check_that "test installs them, too" "$(grep -c 'gcc .*libcmocka' apt.calls) == 1"
deps bench
check_that "bench also installs the peers" "$(grep -c 'gcc .*libcmocka.*bpftrace' apt.calls) == 1"

apt="Unable to locate package dwz" have=all-but who=0
deps
check_that "a failure of apt-get is one sentence with its reason" "$status == 1 &&
	$(grep -c '^install-deps: apt-get cannot .*(Unable to locate package dwz): check the' out) == 1 &&
	$(wc -l <out) == 2" "$(cat out)"
check_that "nothing is left behind" "$(ls "$tmp/left" | wc -l) == 0" "$(ls "$tmp/left")"

deps everything
check_that "usage" "$status == 2" "$(cat out)"
