# stb: one non-recursive Makefile. Profiles are directories: build/release/stb, build/asan/stb, ...
# `make help` lists the targets.

PROFILE ?= release
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
FLEX ?= flex
BISON ?= bison
CLANG ?= clang

ifeq ($(filter $(PROFILE),release debug asan tsan ubsan cov fuzz),)
$(error PROFILE=$(PROFILE) is unknown: release debug asan tsan ubsan cov fuzz)
endif

B := build/$(PROFILE)
G := build/gen

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla \
	-Wformat=2 -Wundef -Wold-style-definition -Wswitch-enum -Wno-switch-enum -Wswitch
BASE := -std=gnu17 -D_GNU_SOURCE -I. -I$(G) -g -pthread -fno-strict-overflow -fno-omit-frame-pointer $(WARN)

CFLAGS_release := -O2
CFLAGS_debug := -O0 -DSTB_DEBUG
CFLAGS_asan := -O1 -DSTB_DEBUG -DSTB_SANITIZE -fsanitize=address,undefined -fno-sanitize-recover=all
CFLAGS_ubsan := -O1 -DSTB_DEBUG -fsanitize=undefined -fno-sanitize-recover=all
CFLAGS_tsan := -O1 -DSTB_DEBUG -DSTB_SANITIZE -fsanitize=thread
CFLAGS_cov := -O0 --coverage
CFLAGS_fuzz := -O1 -DSTB_DEBUG -DSTB_SANITIZE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LDFLAGS_asan := -fsanitize=address,undefined
LDFLAGS_ubsan := -fsanitize=undefined
LDFLAGS_tsan := -fsanitize=thread
LDFLAGS_cov := --coverage
LDFLAGS_fuzz := -fsanitize=address,undefined

ifeq ($(PROFILE),fuzz)
CC := $(CLANG)
endif

# Goals that need no compiler, library or generated file.
LIGHT := help deps deps-test clean distclean
ifneq ($(filter-out $(LIGHT),$(or $(MAKECMDGOALS),all)),)
BUILDING := 1
endif

ifdef BUILDING
# The database client library: DB_CLIENT=libmariadb (MariaDB Connector/C) or mysqlclient (Oracle's libmysqlclient); unset, the first that is here.
ifeq ($(DB_CLIENT),)
DB_CLIENT := $(or $(firstword $(foreach p,libmariadb mysqlclient,$(shell pkg-config --exists $(p) 2>/dev/null && echo $(p)))),libmariadb)
endif
ifeq ($(filter $(DB_CLIENT),libmariadb mysqlclient),)
$(error DB_CLIENT=$(DB_CLIENT) is unknown: libmariadb mysqlclient)
endif
PKGS := $(DB_CLIENT) jansson libcrypto libutf8proc blkid
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(or $(shell pkg-config --libs $(PKGS) 2>/dev/null),-l$(DB_CLIENT:lib%=%) -ljansson -lcrypto -lutf8proc -lblkid)
have = $(shell printf '\043include <$(1)>\n' | $(CC) $(BASE) $(PKG_CFLAGS) -E - >/dev/null 2>&1 && echo 1 || echo 0)
HAVE_URING := $(call have,liburing.h)
HAVE_LIBAIO := $(call have,libaio.h)
HAVE_NUMA := $(call have,numa.h)
endif

CPPFLAGS += $(PKG_CFLAGS) -DSTB_HAVE_URING=$(HAVE_URING) -DSTB_HAVE_LIBAIO=$(HAVE_LIBAIO) -DSTB_HAVE_NUMA=$(HAVE_NUMA)
CFLAGS_ALL = $(BASE) $(CFLAGS_$(PROFILE)) $(CPPFLAGS) $(CFLAGS)
LIBS := $(PKG_LIBS) -lcsv -lm $(if $(filter 1,$(HAVE_URING)),-luring) $(if $(filter 1,$(HAVE_LIBAIO)),-laio) \
	$(if $(filter 1,$(HAVE_NUMA)),-lnuma)
LDFLAGS_ALL = -pthread $(LDFLAGS_$(PROFILE)) $(LDFLAGS)

VERSION := $(shell sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md 2>/dev/null | head -n 1)
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

LIB_SRC := $(sort $(wildcard compiler/*.c runtime/*/*.c))
DRIVER_SRC := $(sort $(wildcard compiler/driver/*.c))
UNIT_SRC := $(sort $(wildcard tests/unit/*.c tests/support/*.c))
UNIT_LIBS := -lcriterion
ifeq ($(PROFILE),tsan)
# Criterion cannot live under ThreadSanitizer: the tests of threaded code alone, with a stand-in for it.
UNIT_SRC := $(wildcard tests/unit/test_io_*.c tests/unit/io_*.c) $(wildcard tests/unit/test_storage_*.c) tests/unit/storage_rig.c tests/support/mounts.c \
	tests/support/plain/main.c
UNIT_LIBS :=
CPPFLAGS += -Itests/support/plain
endif
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))

LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o) $(B)/obj/gen/stb.tab.o $(B)/obj/gen/stb.lex.o
DRIVER_OBJ := $(DRIVER_SRC:%.c=$(B)/obj/%.o)
UNIT_OBJ := $(UNIT_SRC:%.c=$(B)/obj/%.o) $(filter-out %/main.o,$(DRIVER_OBJ))

.PHONY: all help reference deps deps-test demo check check-fast unit install uninstall clean distclean bench fuzz format
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

DOCS := $(G)/stb.1 $(G)/stb.bash $(G)/_stb

all: $(B)/stb $(DOCS) ## build build/$(PROFILE)/stb

help: ## this list
	@echo "make TARGET [PROFILE=release|debug|asan|tsan|ubsan|cov|fuzz]"
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

deps: ## install what building and running needs (shown first; sudo when not root)
	@.ci/deps run

deps-test: ## install what `make check` needs besides
	@.ci/deps run test

demo: ## install, build, run specs/quickstart.stb: disk against memory, I/O and OLTP, in under two minutes
	@.ci/deps run
	@$(MAKE) --no-print-directory all
	@$(B)/stb run specs/quickstart.stb

check: ## install, build, run all tests
	@.ci/deps run test
	@$(MAKE) --no-print-directory all
	@tests/run

unit: $(B)/unit ## the unit tests alone
	$(B)/unit

.PHONY: unit_binary
unit_binary: $(B)/unit

bench: all ## side by side with fio and sysbench; see tests/bench/README.md
	tests/bench/run

# --- generated sources ---------------------------------------------------------------------------------------------------------------

$(G)/stb.tab.c $(G)/stb.tab.h &: grammar/stb.y
	@mkdir -p $(G)
	$(BISON) -Werror -Wcounterexamples --defines=$(G)/stb.tab.h -o $(G)/stb.tab.c $<

$(G)/stb.lex.c $(G)/stb.lex.h &: grammar/stb.l
	@mkdir -p $(G)
	$(FLEX) --header-file=$(G)/stb.lex.h -o $(G)/stb.lex.c $<

# What `stb explain CODE` shows: the first golden diagnostic of each code.
$(G)/examples.inc: compiler/examples.awk $(wildcard tests/golden/diag/*.diag tests/golden/syntax/*.diag tests/golden/import/*.diag tests/golden/import/*/*.diag)
	@mkdir -p $(G)
	awk -f compiler/examples.awk $(sort $(filter %.diag,$^)) >$@

# Manual page and completion; by way of a temporary file, since profiles share them.
$(G)/stb.1: FORM := man
$(G)/stb.bash: FORM := bash
$(G)/_stb: FORM := zsh
$(DOCS): $(B)/stb
	@mkdir -p $(G)
	$(B)/stb explain --format $(FORM) >$@.tmp && mv $@.tmp $@

reference: $(B)/stb ## write grammar/README.md and the fuzz dictionary anew
	{ cat grammar/preface.md; $(B)/stb explain --format markdown; } >grammar/README.md.tmp && mv grammar/README.md.tmp grammar/README.md
	$(B)/stb explain --format dictionary >tests/fuzz/stb.dict.tmp && mv tests/fuzz/stb.dict.tmp tests/fuzz/stb.dict

# --- objects -------------------------------------------------------------------------------------------------------------------------

GEN_WARN := -Wno-shadow -Wno-missing-prototypes -Wno-undef -Wno-unused-function -Wno-sign-compare -Wno-unused-variable

$(B)/obj/gen/%.o: $(G)/%.c | $(G)/stb.tab.h $(G)/stb.lex.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(GEN_WARN) -MMD -MP -c -o $@ $<

$(B)/obj/%.o: %.c | $(G)/stb.tab.h $(G)/stb.lex.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CFLAGS_FILE) -MMD -MP -c -o $@ $<

$(B)/obj/compiler/reference.o: $(G)/examples.inc

# Only this file knows version and commit: a new commit recompiles one object.
$(B)/obj/compiler/driver/version.o: CFLAGS_FILE = -DSTB_VERSION='"$(or $(VERSION),0)"' -DSTB_COMMIT='"$(COMMIT)"'
$(B)/obj/compiler/driver/version.o: $(B)/commit
$(B)/commit: FORCE
	@mkdir -p $(@D); echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' >$@
# Only this file includes the client library's header.
$(B)/obj/runtime/db/mysql.o: $(B)/db-client
$(B)/db-client: FORCE
	@mkdir -p $(@D); echo '$(DB_CLIENT)' | cmp -s - $@ || echo '$(DB_CLIENT)' >$@
FORCE:

$(B)/libstb.a: $(LIB_OBJ)
	@rm -f $@
	ar crs $@ $^

$(B)/stb: $(DRIVER_OBJ) $(B)/libstb.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(B)/unit: $(UNIT_OBJ) $(B)/libstb.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(UNIT_LIBS)

# The database room against real private servers (tests/integration/db.sh runs it).
ITEST_DB_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard tests/integration/db/*.c)) tests/unit/db_blocks.c tests/support/mounts.c)
.PHONY: itest_db
itest_db: $(B)/itest_db
$(B)/itest_db: $(ITEST_DB_OBJ) $(B)/libstb.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lcriterion

# What fio logged, through stb's histogram (tests/integration/fio.sh).
.PHONY: hist_of_log
hist_of_log: $(B)/hist_of_log
$(B)/hist_of_log: $(B)/obj/tests/integration/fio/hist_of_log.o $(B)/libstb.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# --- fuzzing -------------------------------------------------------------------------------------------------------------------------

# The targets with libFuzzer (PROFILE=fuzz), or with a plain main that replays files (any other profile).
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/%)
$(B)/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o $(if $(filter fuzz,$(PROFILE)),,$(B)/obj/tests/fuzz/replay.o) $(B)/libstb.a
	$(CC) $(LDFLAGS_ALL) $(if $(filter fuzz,$(PROFILE)),-fsanitize=fuzzer) -o $@ $^ $(LIBS)
.PRECIOUS: $(B)/obj/tests/fuzz/%.o

fuzz: ## build the fuzz targets of this profile (PROFILE=fuzz for libFuzzer)
fuzz: $(FUZZ_BIN)

# --- installing ----------------------------------------------------------------------------------------------------------------------

install: all ## into $(DESTDIR)$(PREFIX)
	install -D -m 755 $(B)/stb $(DESTDIR)$(PREFIX)/bin/stb
	install -d $(DESTDIR)$(PREFIX)/share/stb/specs
	install -m 644 specs/*.stb $(DESTDIR)$(PREFIX)/share/stb/specs/
	install -D -m 644 README.md $(DESTDIR)$(PREFIX)/share/doc/stb/README.md
	install -D -m 644 grammar/README.md $(DESTDIR)$(PREFIX)/share/doc/stb/reference.md
	install -D -m 644 $(G)/stb.1 $(DESTDIR)$(PREFIX)/share/man/man1/stb.1
	install -D -m 644 $(G)/stb.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/stb
	install -D -m 644 $(G)/_stb $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_stb

uninstall: ## undo install
	rm -f $(DESTDIR)$(PREFIX)/bin/stb $(DESTDIR)$(PREFIX)/share/man/man1/stb.1
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/stb $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_stb
	rm -rf $(DESTDIR)$(PREFIX)/share/stb $(DESTDIR)$(PREFIX)/share/doc/stb

format: ## clang-format over our sources
	clang-format -i $(LIB_SRC) $(DRIVER_SRC) $(UNIT_SRC) $(wildcard compiler/*.h compiler/driver/*.h runtime/*/*.h)

clean: ## remove this profile
	rm -rf $(B)

distclean: ## remove build/
	rm -rf build

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
