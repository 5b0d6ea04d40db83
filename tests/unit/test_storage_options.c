/* test_storage_options.c - options of mkfs and mount come from the table or not at all. */
#include "tests/unit/storage_rig.h"

#include <criterion/criterion.h>
#include <string.h>

static bool words_ok(const char *filesystem, enum stb_fs_where where, const char *a, const char *b)
{
	struct stb_val items[] = { stb_val_str(STB_V_STRING, a), stb_val_str(STB_V_STRING, b) };
	struct stb_val list = { .type = STB_V_LIST, .items = items, .n_items = b ? 2 : 1 };
	struct stb_fs_words w;

	return stb_fs_words(&w, filesystem, where, &list);
}

Test(storage, options_come_from_the_table_or_not_at_all)
{
	static const struct {
		const char *filesystem;
		enum stb_fs_where where;
		const char *a, *b;
		bool ok;
	} cases[] = {
		{ "ext4", STB_FS_MKFS, "-m", "0", true },
		{ "ext4", STB_FS_MKFS, "-m 0", NULL, true },
		{ "ext4", STB_FS_MKFS, "-O", "^has_journal,metadata_csum", true },
		{ "ext4", STB_FS_MKFS, "-O", "journal_dev", false },
		{ "ext4", STB_FS_MKFS, "-O", "has_journal,journal_dev", false },
		{ "ext4", STB_FS_MKFS, "-O", "extent,", false },
		{ "ext4", STB_FS_MOUNT, "errors=panic", NULL, false },
		{ "ext4", STB_FS_MOUNT, "data=ordered", NULL, true },
		{ "ext4", STB_FS_MOUNT, "data=sideways", NULL, false },
		{ "ext4", STB_FS_MKFS, "-E", "stride=16,stripe_width=32,nodiscard", true },
		{ "xfs", STB_FS_MKFS, "-d", "agcount=4,su=64k", true },
		{ "xfs", STB_FS_MKFS, "-K", NULL, true },
		{ "ext4", STB_FS_MKFS, "-m", NULL, false },
		{ "ext4", STB_FS_MKFS, "/dev/sda", NULL, false },
		{ "ext4", STB_FS_MKFS, "-m 0", "/dev/sda", false },
		{ "ext4", STB_FS_MKFS, "-m 0 /dev/sda", NULL, false },
		{ "ext4", STB_FS_MKFS, "-m 0", "100", false },
		{ "ext4", STB_FS_MKFS, "-J", "device=/dev/sda", false },
		{ "ext4", STB_FS_MKFS, "-J", "size=64", true },
		{ "ext4", STB_FS_MKFS, "-d", "/etc", false },
		{ "ext4", STB_FS_MKFS, "-L", "../x", false },
		{ "ext4", STB_FS_MKFS, "-E", "stride", false },
		{ "ext4", STB_FS_MKFS, "-E", "stride=", false },
		{ "ext4", STB_FS_MKFS, "-E", "stride=1k", false },
		{ "ext4", STB_FS_MKFS, "-E", "nodiscard=1", false },
		{ "ext4", STB_FS_MKFS, "-E", "", false },
		{ "ext4", STB_FS_MKFS, "-E", ",", false },
		{ "ext4", STB_FS_MKFS, "-E", "-E", false },
		{ "ext4", STB_FS_MKFS, "-E stride=1", "-E stride=2", false },
		{ "ext4", STB_FS_MKFS, "-F", NULL, false },
		{ "ext4", STB_FS_MKFS, "--", NULL, false },
		{ "ext4", STB_FS_MKFS, "-", NULL, false },
		{ "xfs", STB_FS_MKFS, "-d", "name=/dev/sda", false },
		{ "xfs", STB_FS_MKFS, "-l", "logdev=/dev/sda", false },
		{ "xfs", STB_FS_MKFS, "-p", "/etc/proto", false },
		{ "none", STB_FS_MKFS, "-m 0", NULL, false },
		{ "ext4", STB_FS_MOUNT, "noatime", "data=writeback", true },
		{ "xfs", STB_FS_MOUNT, "allocsize=64m", NULL, true },
		{ "ext4", STB_FS_MOUNT, "noatime,dev", NULL, false },
		{ "ext4", STB_FS_MOUNT, "data=/x", NULL, false },
		{ "ext4", STB_FS_MOUNT, "data=a,suid", NULL, false },
		{ "ext4", STB_FS_MOUNT, "suid", NULL, false },
		{ "ext4", STB_FS_MOUNT, "journal_dev=1", NULL, false },
		{ "ext4", STB_FS_MOUNT, "usrjquota=x", NULL, false },
		{ "xfs", STB_FS_MOUNT, "logdev=/dev/sda", NULL, false },
		{ "ext4", STB_FS_MOUNT, "", NULL, false },
		{ "ext4", STB_FS_MOUNT, "=", NULL, false },
		{ "ext4", STB_FS_MOUNT, "-m", NULL, false },
	};
	char many[200] = "";

	for (size_t i = 0; i < STB_LEN(cases); i++)
		cr_expect_eq(words_ok(cases[i].filesystem, cases[i].where, cases[i].a, cases[i].b), cases[i].ok, "%s %s %s", cases[i].filesystem,
			cases[i].a, cases[i].b ? cases[i].b : "");
	for (int i = 0; i < 66; i++)
		strcat(many, "-K ");
	cr_expect_not(words_ok("xfs", STB_FS_MKFS, many, NULL));
	memset(many, 'x', 150);
	cr_expect_not(words_ok("xfs", STB_FS_MKFS, many, NULL));
	cr_expect_not(words_ok("xfs", STB_FS_MOUNT, many, NULL));
}
