/* test_resolve.c - includes, in directories of their own: what is found, what is refused, what the files are called. */
#include <criterion/criterion.h>

#include "tests/unit/spec.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64]; /* a directory for one test, which runs in a process of its own */

static void make_root(void)
{
	strcpy(root, "/tmp/stb-test-XXXXXX");
	cr_assert_not_null(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_root(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *at(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void put(const char *name, const char *text)
{
	char *slash, *path = strdup(at(name));

	for (slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f, "%s", path);
	fputs(text, f);
	fclose(f);
	free(path);
}

/* Resolves and checks a file with its includes. */
static void read_spec(struct spec *s, const char *name)
{
	uint32_t file;
	int code;

	memset(s, 0, sizeof(*s));
	stb_compilation_init(&s->c);
	cr_assert_eq(stb_sources_load(&s->c.sources, at(name), NULL, &file, &code), STB_SOURCE_OK);
	s->m = stb_resolve(&s->c, file, &s->o, true);
	stb_check(s->m);
}

static void refuse(const char *name, enum stb_code code, const char *says)
{
	struct spec s;
	char *text;

	read_spec(&s, name);
	text = spec_text(&s, STB_DIAG_HUMAN);
	cr_expect_eq(spec_count(&s, code), 1, "%s: %s", name, text);
	cr_expect_eq(s.c.sink.n_errors, 1, "%s: %s", name, text);
	cr_expect(strstr(text, says), "%s: %s", name, text);
	free(text);
	spec_close(&s);
}

TestSuite(resolve, .init = make_root, .fini = remove_root);

Test(resolve, an_include_is_relative_to_its_file_and_counts_once)
{
	struct spec s;

	mkdir(at(".git"), 0700);
	put("specs/top.stb", "stb 1\ninclude \"../lib/a.stb\"\ninclude \"../lib/b.stb\"\nvolume top { size = one }\n");
	put("lib/a.stb", "stb 1\ninclude \"deep/c.stb\"\nvolume a { size = one }\n");
	put("lib/b.stb", "stb 1\ninclude \"../lib/./deep/c.stb\"\nvolume b { size = one }\n");
	put("lib/deep/c.stb", "stb 1\nlet one = 1GiB\n");
	read_spec(&s, "specs/top.stb");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_eq(s.c.sources.n_files, 4);
	cr_expect_eq(s.m->n_blocks, 3);
	cr_expect_str_eq(spec_value(&s, STB_K_VOLUME, "top", "size"), "1GiB");
	cr_expect_str_eq(s.c.sources.files[2].name, "lib/deep/c.stb", "%s", s.c.sources.files[2].name);
	spec_close(&s);
}

Test(resolve, an_include_stays_in_the_repository)
{
	mkdir(at("repo"), 0700);
	mkdir(at("repo/.git"), 0700);
	put("outside.stb", "stb 1\n");
	put("repo/specs/climbs.stb", "stb 1\ninclude \"../../outside.stb\"\n");
	put("repo/specs/absolute.stb", "stb 1\ninclude \"/etc/hostname\"\n");
	put("repo/specs/link.stb", "stb 1\ninclude \"linked.stb\"\n");
	cr_assert_eq(symlink("../../outside.stb", at("repo/specs/linked.stb")), 0);
	refuse("repo/specs/climbs.stb", STB_E0211, "outside of the repository");
	refuse("repo/specs/absolute.stb", STB_E0211, "absolute");
	refuse("repo/specs/link.stb", STB_E0211, "outside of the repository");
	put("repo/root.stb", "stb 1\ninclude \".\"\n");
	put("repo/specs/root.stb", "stb 1\ninclude \"..\"\n");
	refuse("repo/root.stb", STB_E0213, "`.` is a directory");
	refuse("repo/specs/root.stb", STB_E0213, "`..` is a directory");
}

Test(resolve, without_a_repository_the_folder_is_the_root)
{
	struct spec s;

	put("work/top.stb", "stb 1\ninclude \"sub/a.stb\"\n");
	put("work/sub/a.stb", "stb 1\nvolume a { }\n");
	put("work/up.stb", "stb 1\ninclude \"../other.stb\"\n");
	put("other.stb", "stb 1\n");
	read_spec(&s, "work/top.stb");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_str_eq(s.c.sources.files[1].name, at("work/sub/a.stb"));
	spec_close(&s);
	refuse("work/up.stb", STB_E0211, "outside of the repository");
}

Test(resolve, a_link_to_a_file_read_already_adds_nothing)
{
	struct spec s;

	put("top.stb", "stb 1\ninclude \"a.stb\"\ninclude \"b.stb\"\n");
	put("a.stb", "stb 1\nvolume a { }\n");
	cr_assert_eq(symlink("a.stb", at("b.stb")), 0);
	read_spec(&s, "top.stb");
	cr_expect_eq(s.c.sink.n_errors, 0);
	cr_expect_eq(s.m->n_blocks, 1);
	spec_close(&s);
}

Test(resolve, cycles_show_their_chain)
{
	put("self.stb", "stb 1\ninclude \"self.stb\"\n");
	put("a.stb", "stb 1\ninclude \"b.stb\"\n");
	put("b.stb", "stb 1\ninclude \"c.stb\"\n");
	put("c.stb", "stb 1\ninclude \"b.stb\"\n");
	refuse("self.stb", STB_E0212, "includes itself");
	refuse("a.stb", STB_E0212, "b.stb -> ");
}

Test(resolve, what_is_no_file_has_its_own_message)
{
	struct spec s;

	mkdir(at("dir"), 0700);
	cr_assert_eq(mkfifo(at("fifo"), 0600), 0);
	put("a.stb", "stb 1\ninclude \"dir\"\n");
	put("b.stb", "stb 1\ninclude \"fifo\"\n");
	put("c.stb", "stb 1\ninclude \"missing.stb\"\n");
	put("d.stb", "stb 1\ninclude \"\"\n");
	put("e.stb", "stb 1\nlet x = 1\ninclude \"${x}.stb\"\n");
	put("huge.stb", "stb 1\n");
	cr_assert_eq(truncate(at("huge.stb"), (off_t)STB_SOURCE_MAX_BYTES + 1), 0);
	put("f.stb", "stb 1\ninclude \"huge.stb\"\n");
	refuse("a.stb", STB_E0213, "is a directory");
	refuse("b.stb", STB_E0213, "no regular file");
	refuse("c.stb", STB_E0210, "No such file");
	refuse("d.stb", STB_E0323, "cannot be empty");
	refuse("e.stb", STB_E0323, "${...}");
	refuse("f.stb", STB_E0214, "larger than");
	if (geteuid() != 0) {
		put("secret.stb", "stb 1\n");
		chmod(at("secret.stb"), 0);
		put("g.stb", "stb 1\ninclude \"secret.stb\"\n");
		refuse("g.stb", STB_E0210, "Permission denied");
	}
	memset(&s, 0, sizeof(s));
	spec_open(&s, "stb 1\ninclude \"a.stb\"\n");
	cr_expect_eq(spec_count(&s, STB_E0219), 1);
	spec_close(&s);
}

Test(resolve, a_chain_of_includes_has_a_limit)
{
	for (int i = 0; i < 60; i++) {
		char name[32], text[64];

		snprintf(name, sizeof(name), "f%d.stb", i);
		snprintf(text, sizeof(text), "stb 1\ninclude \"f%d.stb\"\n", i + 1);
		put(name, text);
	}
	put("f60.stb", "stb 1\n");
	refuse("f0.stb", STB_E0214, "includes deep");
}

Test(resolve, names_are_unique_over_all_files)
{
	put("a.stb", "stb 1\ninclude \"b.stb\"\nvolume v { }\nlet x = 1\nsuite s { }\nprofile p { }\nstorage tmpfs v { size = 1MiB }\n");
	put("b.stb", "stb 1\nvolume v { }\nparam x = 2\nsuite t { }\nprofile p { }\n");

	struct spec s;

	read_spec(&s, "a.stb");
	cr_expect_eq(spec_count(&s, STB_E0208), 3);
	cr_expect_eq(spec_count(&s, STB_E0209), 1);
	cr_expect_eq(s.c.sink.n_errors, 4, "a storage class and a volume may share a name");
	spec_close(&s);
}

Test(resolve, heads_of_blocks)
{
	static const struct {
		const char *text;
		enum stb_code code;
	} cases[] = {
		{ "volume { }", STB_E0207 },         { "volume a b { }", STB_E0207 },       { "storage tmpfs { }", STB_E0207 },
		{ "storage x { }", STB_E0207 },      { "storage tmpfs a b { }", STB_E0207 }, { "volume \"a\" { }", STB_E0207 },
		{ "volume * { }", STB_E0207 },       { "storage ram a { }", STB_E0206 },    { "volume none { }", STB_E0218 },
		{ "let none = 1", STB_E0218 },       { "pins p { }", STB_E0202 },            { "workload mixed m { }", STB_E0206 },
	};

	for (size_t i = 0; i < STB_LEN(cases); i++) {
		struct spec s = { 0 };
		char text[128], *said;

		snprintf(text, sizeof(text), "stb 1\n%s\n", cases[i].text);
		spec_open(&s, text);
		said = spec_text(&s, STB_DIAG_HUMAN);
		cr_expect_eq(spec_count(&s, cases[i].code), 1, "%s: %s", cases[i].text, said);
		cr_expect_eq(s.c.sink.n_errors, 1, "%s: %s", cases[i].text, said);
		free(said);
		spec_close(&s);
	}
}
