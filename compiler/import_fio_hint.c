/*
 * import_fio_hint.c - what fio's words are called in a spec: rows of the importer's tables, as hints to who writes them from memory.
 */
#include "compiler/fio_hint.h"
#include "compiler/import_fio.h"
#include "compiler/schema.h"

#include <string.h>

static void called(struct stb_sink *s, struct stb_diag *d, struct stb_span at, const char *fio, const char *ours)
{
	stb_diag_here(s, d, "fio's `%s` is `%s` here", fio, ours);
	stb_diag_fixit(s, d, at, "%s", ours);
}

bool stb_fio_hint_attr(struct stb_sink *s, struct stb_diag *d, struct stb_span at, const char *name)
{
	const struct stb_fio_row *row = stb_fio_find(name);

	if (!row)
		return false;
	if (row->fate != STB_FIO_IS_TRANSLATED)
		stb_diag_help(s, d, "fio's `%s` has no counterpart: %s", name, row->text);
	else if (stb_schema_attr(STB_K_WORKLOAD, "io", row->text)) /* the value stays as it is (import_fio.def) */
		called(s, d, at, name, row->text);
	else
		stb_diag_help(s, d, "fio's `%s` becomes %s", name, row->text);
	return true;
}

bool stb_fio_hint_word(struct stb_sink *s, struct stb_diag *d, struct stb_span at, const char *attr, const char *word)
{
	const struct stb_fio_direction *direction = strcmp(attr, "rw") ? NULL : stb_fio_find_direction(word, strlen(word));
	const struct stb_fio_engine *engine = strcmp(attr, "ioengine") ? NULL : stb_fio_find_engine(word);
	const char *but = direction ? direction->lack : engine ? engine->how : NULL;

	if (!direction && !engine)
		return false;
	if (!but || (engine && engine->same_work))
		called(s, d, at, word, direction ? direction->ours : engine->ours);
	if (but)
		stb_diag_help(s, d, "of fio's `%s`: %s", word, but);
	return true;
}
