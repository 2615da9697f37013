# SPDX-License-Identifier: GPL-2.0-or-later
#
# One non-recursive Makefile. Sources are found by their folders, so a new file needs no
# line here. All output is below .output/.
#
#   make              the programs            make check   install, build, test
#   make fuzz         fuzz by coverage, FUZZ_SECONDS=15 each
#   make demo         install, build, record  make bench   measure against peers
#   V=1 show commands   DEBUG=1 -O0   SAN=1 sanitizers, and coverage for fuzzing

O      := .output/$(if $(SAN),san,$(if $(DEBUG),debug,build))
PREFIX ?= /usr/local
Q      := $(if $(V),,@)
say     = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2:$(O)/%=%);)

VERSION := 0.1.0

CC      := $(if $(SAN),clang,gcc)
CLANG   := clang
BPFTOOL := $(shell PATH=$$PATH:/usr/sbin:/sbin command -v bpftool || echo bpftool)

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
           -Wpointer-arith -Wwrite-strings -Wno-unused-parameter
CFLAGS  := -std=gnu11 -pthread $(if $(SAN),-gline-tables-only,-g) $(if $(DEBUG)$(SAN),-O1,-O2) -fno-omit-frame-pointer $(WARN)
CPPFLAGS := -D_GNU_SOURCE -DER_VERSION='"$(VERSION)"' -I. -I$(O)
# A library that a program does not use is not loaded when it starts.
LDFLAGS := -pthread -Wl,--as-needed

ifdef SAN
# Only clang has coverage for libFuzzer. NULL + 0 occurs with empty vectors. Newer C standards
# allow it, but clang 14 reports it, so this check is off.
CFLAGS  += -fPIC -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined \
           -fno-sanitize=pointer-overflow \
           -w # warnings are the business of the other builds
CPPFLAGS += -D__SANITIZE_ADDRESS__ # gcc's word for it, which clang lacks
LDFLAGS += -fsanitize=address,undefined
# For the library of the tests, which has a line editor like the tools.
TESTS_LIBS := -Wl,-rpath,'$$ORIGIN/../..' -ledit
endif

# The analysis engine needs no BPF, no clang and no root.
# libopcodes has no stable interface, so it is linked statically, with the libraries it needs. What is tested with
# sanitizers is not installed.
have_lib = $(if $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a 2>/dev/null)),-l:lib$(1).a)
DISASM_LIBS   := $(if $(SAN),-lopcodes -lbfd -lzstd,\
                 -l:libopcodes.a -l:libbfd.a $(call have_lib,sframe) $(or $(call have_lib,zstd),-lzstd))
# For code of other machines a shared libopcodes of the same version is loaded (opcodes.h).
$(O)/analysis/symbols/%.o: CPPFLAGS += -DBINUTILS_VERSION='"$(binutils_version)"'
binutils_version := $(shell objdump --version | sed -n '1s/.* \([0-9][0-9.]*\).*/\1/p')
ANALYSIS_LIBS := -lelf -ldw $(DISASM_LIBS) -lz -ldeflate -llzma -liberty -lm
RECORD_LIBS   := -lbpf $(ANALYSIS_LIBS) -lcap

analysis_obj := $(patsubst %.c,$(O)/%.o,$(wildcard analysis/*/*.c))
record_obj   := $(patsubst %.c,$(O)/%.o,$(filter-out kernel_er/main.c user/collect/main.c user/preload/% user/api/%,\
                $(wildcard kernel_er/*.c user/*/*.c loaders/*.c)))
skeletons    := $(patsubst bpf/%.bpf.c,$(O)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))
tools        := $(patsubst tools/%.c,$(O)/bin/%,$(wildcard tools/*.c))
api          := $(O)/lib/libcollectorAPI.so $(O)/lib/libcollectorAPI.a
preload      := $(O)/bin/er_heap.so $(O)/bin/er_clock.so $(O)/bin/er_locks.so
programs     := $(O)/bin/er_kernel $(O)/bin/collect $(preload) $(api) $(tools)
unit_tests   := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/unit/test_*.c))
live_progs   := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/live/*.c))
unwind_progs := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/unwind/*.c))
synprogs     := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/synprog/*.c))
fixtures_obj := $(patsubst %.c,$(O)/%.o,$(wildcard tests/fixtures/*.c))
# These need the recorder.
unwind_fixtures_obj := $(patsubst %.c,$(O)/%.o,$(wildcard tests/fixtures/unwind/*.c))
fuzz_common  := $(patsubst %,$(O)/tests/fuzz/%.o,report pack)
fuzz_targets := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/fuzz/target_*.c))
fuzzers      := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
benches      := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/bench/*.c))
golden       := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/golden/*.c))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: pictures all tests synprogs clean install uninstall fmt deps demo check check-unit check-live bench fuzz fuzz-programs

all: $(programs)

$(O)/libanalysis.a: $(analysis_obj)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# Programs of tests take of these what they need.
$(O)/librecord.a: $(record_obj)
$(O)/libfixtures.a: $(fixtures_obj) $(unwind_fixtures_obj)
$(O)/librecord.a $(O)/libfixtures.a:
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^

$(O)/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c $< -o $@

# `er_print -help command` prints text from the manual page.
$(O)/analysis/command/helptext.inc: docs/man/er_print.1 tools/helptext.awk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && awk -f tools/helptext.awk $< > $@

$(O)/analysis/command/helptext.o: $(O)/analysis/command/helptext.inc

# The page's application is a part of the exporter.
$(O)/analysis/export/page_app.inc: tools/page_app.sh $(wildcard analysis/export/page/*)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && tools/page_app.sh analysis/export/page > $@

$(O)/analysis/export/page_app.o: $(O)/analysis/export/page_app.inc

# BPF: source, object, skeleton. vmlinux.h is ours and small (CO-RE), so that a
# build needs no BTF of the machine it runs on.
$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra \
		-Wno-unused-parameter -Wno-missing-declarations -I. -c $< -o $@

$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(record_obj): | $(skeletons)

$(O)/bin/er_kernel: $(O)/kernel_er/main.o
$(O)/bin/collect: $(O)/user/collect/main.o
$(O)/bin/er_kernel $(O)/bin/collect: $(record_obj) $(O)/libanalysis.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) $^ $(RECORD_LIBS) -o $@

# The libraries that trace the heap of a program, profile it, and count its locks: all they need, and nothing of
# them is seen but functions that the program calls. They have neither sanitizers nor coverage, as the
# program has none.
preload_src  := user/preload/heap_client.c user/preload/heap_walk.c user/preload/exec_calls.c user/unwind/cfi.c user/unwind/cfi_expr.c \
                analysis/symbols/ehframe.c
$(O)/bin/er_heap.so: $(wildcard user/preload/heap_*.c)
$(O)/bin/er_clock.so: user/preload/clock_calls.c
$(O)/bin/er_locks.so: user/preload/lock_calls.c user/api/usdt.h
$(preload): $(preload_src) $(wildcard user/preload/*.h user/unwind/cfi*.h bpf/unwind*.h) \
                     analysis/symbols/ehframe.h analysis/base/cursor.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && gcc -std=gnu11 -O2 -g $(WARN) -D_GNU_SOURCE -I. -shared -fPIC -fvisibility=hidden \
		-fno-omit-frame-pointer -fno-builtin -fexceptions -ftls-model=initial-exec \
		-Wl,-Bsymbolic-functions -Wl,-z,now $(filter %.c,$^) -o $@

# The collector API, which programs of users are linked with: shared and static. Calls between its
# functions need no symbol, so a collector that is loaded before it (gprofng's) takes all of them.
api_flags    := -std=gnu11 -O2 -g $(WARN) -D_GNU_SOURCE -I. -fPIC
$(O)/lib/libcollectorAPI.so: $(wildcard user/api/*) user/preload/raw_call.h user/preload/own_call.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && gcc $(api_flags) -shared -Wl,-soname,libcollectorAPI.so -Wl,-z,now user/api/*.c -o $@

$(O)/lib/libcollectorAPI.a: $(wildcard user/api/*) user/preload/raw_call.h user/preload/own_call.h
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)/api && rm -f $@ && for c in user/api/*.c; do \
		gcc $(api_flags) -c $$c -o $(@D)/api/$$(basename $$c .c).o || exit; done && ar rcs $@ $(@D)/api/*.o

$(O)/bin/er_print: TOOL_LIBS := -ledit
$(tools): $(O)/bin/%: $(O)/tools/%.o $(O)/libanalysis.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) $^ $(ANALYSIS_LIBS) $(TOOL_LIBS) -o $@

# Tests. A unit test that includes recorder headers links the recorder too. With sanitizers a program would be
# 12 MB and take a second to link, so the tests share a library there.
tests_lib := $(if $(SAN),$(O)/libtests.so,$(O)/libfixtures.a $(O)/librecord.a $(O)/libanalysis.a)
$(O)/libtests.so: $(fixtures_obj) $(unwind_fixtures_obj) $(record_obj) $(analysis_obj)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) -shared $^ $(RECORD_LIBS) $(TESTS_LIBS) -o $@

$(unit_tests) $(live_progs) $(unwind_progs): $(O)/tests/%: $(O)/tests/%.o $(tests_lib)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) $^ $(TESTS_LIBS) $(RECORD_LIBS) -lcmocka -o $@

$(O)/tests/bench/attach: ANALYSIS_LIBS += -lbpf
$(benches) $(golden): $(O)/tests/%: $(O)/tests/%.o $(fixtures_obj) $(O)/libanalysis.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) $^ $(ANALYSIS_LIBS) -o $@

$(O)/tests/fuzz/target_script: FUZZ_WRAP := -Wl,--wrap=fopen
$(fuzz_targets): $(O)/tests/%: $(O)/tests/%.o $(fuzz_common) $(O)/libfixtures.a $(O)/librecord.a $(O)/libanalysis.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) -fsanitize=fuzzer $(FUZZ_WRAP) $^ $(RECORD_LIBS) -o $@

$(fuzzers) $(O)/tests/fuzz/seeds: $(O)/tests/%: $(O)/tests/%.o $(fuzz_common) $(fixtures_obj) $(O)/libanalysis.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) $^ $(ANALYSIS_LIBS) -o $@

# Workloads print true figures for the tests, so they keep frame pointers and all functions.
$(synprogs): $(O)/tests/%: tests/%.c $(wildcard tests/synprog/*.h)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -g -O1 -fno-omit-frame-pointer -fno-inline \
		-fno-optimize-sibling-calls -D_GNU_SOURCE -Wall -Wextra -I. $< -o $@ -pthread -lrt $(API)

with_api     := $(O)/tests/synprog/api $(O)/tests/synprog/marked
$(with_api): API = -Iuser/api -Wl,-rpath,'$$ORIGIN/../../lib' -L$(O)/lib -lcollectorAPI
$(with_api): | $(api)

# Those that run with sanitizers are unit tests and fuzzers.
tests: $(unit_tests) $(fuzzers) $(if $(SAN),fuzz-programs,$(live_progs) $(unwind_progs) $(synprogs) $(benches) $(golden))

synprogs: $(synprogs)

deps:
	$(Q)tools/install-deps.sh

demo:
	$(Q)tools/install-deps.sh build
	$(Q)$(MAKE) --no-print-directory all synprogs
	$(Q)tests/lib/demo.sh $(O)

# The pictures of docs/howto-page.md.
pictures:
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)tests/lib/page_pictures.sh

check:
	$(Q)tests/lib/check.sh

check-unit:
	$(Q)tests/lib/check.sh unit

check-live:
	$(Q)tests/lib/check.sh live

bench:
	$(Q)tools/install-deps.sh bench
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)tests/bench/run.sh $(O)

fuzz:
	$(Q)$(MAKE) --no-print-directory SAN=1 fuzz-programs
	$(Q)tests/fuzz/run.sh .output/san

fuzz-programs: $(fuzz_targets) $(O)/tests/fuzz/seeds

fmt:
	$(Q)git ls-files '*.c' '*.h' | grep -v vmlinux.h | xargs clang-format -i

install: all
	$(Q)tools/install.sh $(O) "$(DESTDIR)" "$(PREFIX)"

uninstall:
	$(Q)tools/install.sh $(O) "$(DESTDIR)" "$(PREFIX)" remove

clean:
	$(Q)rm -rf .output

-include $(shell find $(O) -name '*.d' 2>/dev/null)
