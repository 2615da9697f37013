# SPDX-License-Identifier: GPL-2.0-or-later
#
# collect: what it costs the program, beside gprofng's collector in the same run. Sourced by run.sh.
#
# shellcheck shell=bash

collect=$O/bin/collect

# The recorders as a command in front of a program; RUN becomes a number.
program_recorders()
{
	cat <<END
collect_10 $collect -A off -o RUN.c10.er -p on
collect_1 $collect -A off -o RUN.c1.er -p hi
END
	command -v gprofng >/dev/null && cat <<END
gprofng_10 gprofng collect app -a off -o RUN.g10.er -p on
gprofng_1 gprofng collect app -a off -o RUN.g1.er -p hi
END
}

# under RECORDER… : the tenth percentile of a slice's CPU time; the program prints nothing else.
under() { "$@" "$bench/fixed_work" 1 20 300 2>/dev/null | awk 'NF == 1 && /^[0-9.]+$/' | tenth; }

# collect_ratios: append to ratio_NAME the slowdown in percent of each recorder, against the runs
# without one before and after it.
collect_ratios()
{
	local name command before after with run=$1
	before=$(under env)
	while read -r name command; do
		# shellcheck disable=SC2086
		with=$(under ${command//RUN/$run})
		after=$(under env)
		[ -z "$with" ] || calc "100 * ($(beside_ratio "$with" "$before" "$after") - 1)" %.4f >>"ratio_$name"
		before=$after
	done < <(program_recorders)
}

bench_program()
{
	local i ms limit theirs
	step "slowdown of a program under collect"
	for i in $(seq $((QUICK ? 2 : rounds * 4))); do collect_ratios "$i"; done
	for ms in 10 1; do
		limit=$([ $ms = 10 ] && echo 0.5 || echo 2)
		theirs=$([ -s ratio_gprofng_$ms ] && calc "$(median <ratio_gprofng_$ms)" %.2f || echo "nothing")
		row "slowdown by collect at $ms ms" "$limit %" \
			"$(calc "$(median <ratio_collect_$ms)" %.2f) % ($(middle %.2f <ratio_collect_$ms)); gprofng $theirs %" \
			"$(median <ratio_collect_$ms) <= $limit"
	done
}

# The script measures itself and begins a second later, so that the start and the end of the
# recording are left out. Other programs on the machine only add time.
forks_script='sleep 1; a=$(date +%s%N); for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	/bin/true; done; b=$(date +%s%N); echo $(((b - a) / 1000))'
forks_under() { "$@" sh -c "$forks_script" 2>/dev/null | grep -xE '[0-9]+'; }

bench_forks()
{
	local i plain ours theirs
	step "a shell script with 20 forks"
	for i in $(seq $((rounds * 5))); do
		forks_under env >>forks_plain
		forks_under "$collect" -A off -o "forks$i.er" >>forks_ours
		command -v gprofng >/dev/null &&
			forks_under gprofng collect app -F on -a off -o "gforks$i.er" >>forks_theirs
	done
	plain=$(least <forks_plain) ours=$(least <forks_ours)
	theirs=$([ -s forks_theirs ] && calc "($(least <forks_theirs) - $plain) / 1000" %.0f || echo "nothing")
	row "a shell script with 20 forks under collect takes longer by" "30 ms" \
		"$(calc "($ours - $plain) / 1000" %.1f) ms of $(calc "$plain / 1000" %.0f); gprofng $theirs ms" \
		"$ours - $plain <= 30000"
}

# Twenty times 4,000,000 free locks: the ns of CPU time for each lock.
free_locks()
{
	local i
	for i in $(seq 20); do
		echo >&7
		read -r -t 60 -u 8 || return
	done
	tail -n 20 free_locks
}

# The recorder attaches to a program that runs all the time: two programs, or two runs of one, differ by some
# percent, because their locks lie elsewhere. A process that records nothing shows what is noise.
lock_recorders()
{
	cat <<END
locks_none sleep 1000
locks_on $collect -A off -s on -o RUN.er -P ${jobs[-1]}
END
}

bench_free_locks()
{
	local on none
	step "a lock that is free"
	rm -f ours theirs free_locks
	mkfifo ours theirs
	exec 7<>ours 8<>theirs
	start sh -c "exec \"\$0\" turns 4000000 1000000000 ours theirs >free_locks" "$syn/locktaken"
	in_turn free_locks $((rounds * 4)) lock_recorders
	stop_jobs
	exec 7>&- 8>&-
	awk '{ print 100 * ($1 - 1) }' ratio_locks_on >on
	awk '{ print 100 * ($1 - 1) }' ratio_locks_none >none
	on=$(median <on) none=$(median <none)
	row "-s on: CPU time of a lock that is free" "0.5 %" \
		"$(calc "$on" %.2f) % ($(middle %.2f <on)) of $(calc "$without" %.2f) ns; nothing: $(calc "$none" %.2f) % ($(middle %.2f <none))" \
		"$on <= 0.5"
}

# A program that takes 4,000,000 free locks in each turn. A program without a recorder has the turns between,
# on the same CPU: the speed of a CPU may change by half within seconds. Prints the recorded program's ns of
# CPU time for each lock, and the mean of the other's turns before and after it.
locks_in_turn()
{
	local cpu turns=$((QUICK ? 30 : 150)) program="$syn/locktaken turns 4000000"
	cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//')
	rm -f ours theirs
	mkfifo ours theirs
	exec 7<>ours 8<>theirs
	taskset -c "$cpu" $program $turns theirs ours </dev/null >locks_other 2>/dev/null &
	"$@" taskset -c "$cpu" $program $turns ours theirs </dev/null >locks_recorded 2>/dev/null &
	echo >ours
	wait
	exec 7>&- 8>&-
	paste locks_recorded locks_other | awk 'NR > 2 { print $1, (before + $2) / 2 } { before = $2 }'
}

bench_locks()
{
	local i all
	step "counting locks"
	for i in $(seq "$rounds"); do
		locks_in_turn "$collect" -A off -s all -o "locks_all$i.er" >>locks_all
		rm -rf locks_*.er
	done
	all=$(awk '{ print $1 - $2 }' locks_all | median)
	row "-s all: CPU time to count a lock" "15 ns" "$(calc "$all" %.1f) ns" "$all <= 15"
}

section "Programs" program forks free_locks locks
quick+=(program forks free_locks locks)
