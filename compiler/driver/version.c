/* version.c - what this program is and what it was built with. The only file that knows version and commit. */
#include "compiler/driver/driver.h"
#include "runtime/db/db.h"
#include "runtime/io/engine.h"

const char stb_version[] = STB_VERSION;
const char stb_commit[] = STB_COMMIT;

int stb_cmd_version(const struct stb_args *a)
{
	char library[STB_CLIENT_LIBRARY_TEXT];

	(void)a;
	printf("stb %s (commit %s)\n\nengines:\n", stb_version, stb_commit);
	for (int i = 0; i < STB_IO_N_ENGINES; i++) {
		const struct stb_io_caps *c = stb_io_caps((enum stb_io_engine_id)i);
		struct stb_err err;

		stb_err_clear(&err);
		if (!c->ops->probe(1, 1, &err))
			printf("  %-9s usable\n", c->name);
		else
			printf("  %-9s not usable: %s%s%s\n", c->name, err.what, *err.remedy ? "; " : "", err.remedy);
	}
	stb_db_client_library(library);
	printf("\ndatabase client: %s; prepared statements are %s\n", library, stb_db_client_prepared());
	return STB_EXIT_OK;
}
