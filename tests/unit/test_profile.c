/* test_profile.c - profiles laid over a spec, and params replaced by --set. */
#include <criterion/criterion.h>

#include "tests/unit/spec.h"

#include <stdlib.h>
#include <string.h>

#define BASE                                                                                                                   \
	"stb 1\n"                                                                                                              \
	"storage external disk { label = \"Disk\"  note = \"old\"  class_name = \"ssd\" }\n"                                    \
	"storage loop img { size = 1GiB }\n"                                                                                   \
	"workload oltp a { script = read_only  threads = 64  time = 60s  tables = 4 }\n"                                        \
	"workload oltp b { script = read_only  threads = 64 }\n"                                                               \
	"workload io c { size = 1GiB  rw = read  iodepth = 4 }\n"                                                              \
	"database mysql d { options { sync_binlog = 1  innodb_io_capacity = 200 } }\n"                                         \
	"matrix m { repeat = 3  schedule { days = 3  at = [03:00] } }\n"

static void lay(struct spec *s, const char *entries)
{
	char text[4096];

	memset(s, 0, sizeof(*s));
	s->o.profile = "p";
	snprintf(text, sizeof(text), "%sprofile p {\n%s\n}\n", BASE, entries);
	spec_open(s, text);
}

static const char *workload(struct spec *s, const char *name, const char *key)
{
	return spec_value(s, STB_K_WORKLOAD, name, key);
}

Test(profile, merges_into_a_block_of_the_same_type)
{
	struct spec s;

	lay(&s, "workload oltp a { threads = 2 }\ndatabase mysql d { options { sync_binlog = 0 } }");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(workload(&s, "a", "threads"), "2");
	cr_expect_str_eq(workload(&s, "a", "time"), "1min");
	cr_expect_str_eq(workload(&s, "b", "threads"), "64");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.sync_binlog"), "\"0\"");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.innodb_io_capacity"), "\"200\"");
	cr_expect_eq(stb_block_setting(stb_model_find(s.m, STB_K_WORKLOAD, "a"), "threads")->origin, STB_FROM_PROFILE);
	spec_close(&s);
}

Test(profile, replaces_a_block_of_another_type_but_its_label)
{
	struct spec s;

	lay(&s, "storage loop disk { size = 2GiB  note = \"new\" }");
	const struct stb_block *b = stb_model_find(s.m, STB_K_STORAGE, "disk");

	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(b->type->type, "loop");
	cr_expect(b->replaced);
	cr_expect_str_eq(b->label, "Disk");
	cr_expect_str_eq(b->note, "new");
	cr_expect_null(stb_block_setting(b, "class_name"));
	cr_expect_str_eq(spec_value(&s, STB_K_STORAGE, "disk", "size"), "2GiB");
	spec_close(&s);
}

Test(profile, a_star_reaches_the_resulting_type_and_names_win)
{
	struct spec s;

	/* whichever order they stand in */
	lay(&s, "workload oltp a { threads = 2 }\nworkload oltp * { threads = 8  time = 5s }\n"
		"storage loop * { filesystem = xfs }\nstorage loop disk { size = 2GiB }");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(workload(&s, "a", "threads"), "2");
	cr_expect_str_eq(workload(&s, "a", "time"), "5s");
	cr_expect_str_eq(workload(&s, "b", "threads"), "8");
	cr_expect_str_eq(workload(&s, "c", "threads"), "-");
	cr_expect_str_eq(spec_value(&s, STB_K_STORAGE, "disk", "filesystem"), "xfs");
	cr_expect_str_eq(spec_value(&s, STB_K_STORAGE, "img", "filesystem"), "xfs");
	spec_close(&s);
}

Test(profile, none_unsets_except_where_it_is_a_word)
{
	struct spec s;

	lay(&s, "storage external disk { label = none }\nmatrix m { schedule = none }\nworkload oltp a { time = none  events = 5 }\nstorage loop img { filesystem = none }\n"
		"database mysql d { options { sync_binlog = none } }");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_null(stb_model_find(s.m, STB_K_STORAGE, "disk")->label);
	cr_expect_str_eq(stb_model_find(s.m, STB_K_STORAGE, "disk")->note, "old");
	cr_expect_str_eq(spec_value(&s, STB_K_MATRIX, "m", "schedule"), "none");
	cr_expect_str_eq(spec_value(&s, STB_K_MATRIX, "m", "schedule.days"), "-");
	cr_expect_str_eq(workload(&s, "a", "time"), "none");
	cr_expect_eq(stb_block_setting(stb_model_find(s.m, STB_K_STORAGE, "img"), "filesystem")->val.type, STB_V_WORD);
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "options.sync_binlog"), "none");
	spec_close(&s);
}

Test(profile, slips_are_errors)
{
	static const struct {
		const char *entries;
		enum stb_code code;
	} cases[] = {
		{ "workload oltp aa { threads = 2 }", STB_E0702 },
		{ "storage tmpfs * { size = 1GiB }", STB_E0702 },
		{ "workload oltp a { iodepth = 2 }", STB_E0204 },
		{ "workload oltp a { threads = 2 }\nworkload oltp a { time = 1s }", STB_E0703 },
		{ "workload oltp * { threads = 2 }\nworkload oltp * { time = 1s }", STB_E0703 },
		{ "threads = 2", STB_E0707 },
		{ "profile q { }", STB_E0707 },
		{ "matrix * { exclude { reason = \"x\"  where { storage = disk } } }", STB_E0707 },
		{ "workload * { threads = 2 }", STB_E0207 },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct spec s;

		lay(&s, cases[i].entries);
		cr_expect_eq(spec_count(&s, cases[i].code), 1, "%s", cases[i].entries);
		cr_expect_eq(s.c.sink.n_errors, 1, "%s", cases[i].entries);
		spec_close(&s);
	}
}

Test(profile, an_unknown_one_is_answered_with_the_nearest)
{
	struct spec s = { .o.profile = "latop" };
	char *text;

	spec_open(&s, BASE "profile laptop { }\n");
	cr_expect_eq(spec_count(&s, STB_E0701), 1);
	text = spec_text(&s, STB_DIAG_HUMAN);
	cr_expect(strstr(text, "did you mean `laptop`?"), "%s", text);
	free(text);
	spec_close(&s);
}

/* --- --set --------------------------------------------------------------------------------------------------------------------------- */

#define PARAMS                                                                                                                 \
	"stb 1\nlet fixed = 3\nparam t = 60s\nparam engine = psync\nparam who = \"me\"\nparam deep = true\n"                  \
	"param pw = env(\"PW\")\n"                                                                                             \
	"workload io w { runtime = t  ioengine = engine  direct = deep }\nsuite s { title = \"${who}\" }\n"                    \
	"database external d { password = pw }\n"

static void set(struct spec *s, const char *const *values, uint32_t n)
{
	memset(s, 0, sizeof(*s));
	s->o.set = values;
	s->o.n_set = n;
	spec_open(s, PARAMS);
}

Test(profile, set_is_read_as_the_type_of_the_default)
{
	static const char *const values[] = { "t=5s", "engine=libaio", "who=Jörg = ${t}", "deep=false", "pw=file(\"/run/pw\")" };
	struct spec s;

	set(&s, values, STB_LEN(values));
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(workload(&s, "w", "runtime"), "5s");
	cr_expect_str_eq(workload(&s, "w", "ioengine"), "libaio");
	cr_expect_str_eq(workload(&s, "w", "direct"), "false");
	cr_expect_str_eq(spec_value(&s, STB_K_SUITE, "s", "title"), "\"Jörg = \\${t}\"");
	cr_expect_str_eq(spec_value(&s, STB_K_DATABASE, "d", "password"), "file(\"/run/pw\")");
	cr_expect_eq(stb_block_setting(stb_model_find(s.m, STB_K_WORKLOAD, "w"), "runtime")->origin, STB_FROM_PARAM);
	spec_close(&s);
}

Test(profile, set_refuses)
{
	static const struct {
		const char *set;
		enum stb_code code;
	} cases[] = {
		{ "tt=5s", STB_E0705 },  { "fixed=4", STB_E0705 },   { "t=5", STB_E0706 }, { "t=4KiB", STB_E0706 }, { "deep=yes", STB_E0706 },
		{ "t", STB_E0706 },      { "=5", STB_E0706 },        { "engine=posix", STB_E0304 },                 { "pw=hunter2", STB_E0706 },
		{ "pw=\"hunter2\"", STB_E0706 },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct spec s;
		char *text;

		set(&s, &cases[i].set, 1);
		text = spec_text(&s, STB_DIAG_HUMAN);
		cr_expect_eq(spec_count(&s, cases[i].code), 1, "%s: %s", cases[i].set, text);
		cr_expect_eq(s.c.sink.n_errors, 1, "%s: %s", cases[i].set, text);
		cr_expect_null(strstr(text, "hunter2"), "%s", text);
		free(text);
		spec_close(&s);
	}
}

Test(profile, set_twice_is_refused)
{
	static const char *const values[] = { "t=5s", "t=6s" };
	struct spec s;

	set(&s, values, 2);
	cr_expect_eq(spec_count(&s, STB_E0706), 1);
	spec_close(&s);
}
