/* import_fio.c - `stb import fio`: a job file as a spec. */
#include "compiler/import_fio.h"

#include <string.h>

bool stb_import_fio(struct stb_import *im, const char *const *words, uint32_t n)
{
	struct stb_fio_file f;

	(void)n;
	if (!stb_fio_read(im, words[0], &f))
		return false;
	for (uint32_t i = 0; i < f.n; i++) {
		const struct stb_fio_section *s = &f.sections[i];

		for (uint32_t k = 0; k < s->n; k++) {
			const struct stb_fio_option *o = &s->options[k];

			if (!strcmp(o->name, "group_reporting"))
				stb_import_leave(im, o->span, o->words, "the jobs of a workload are always reported together");
			else
				stb_import_refuse(im, o->span, o->words, "no option is translated yet");
		}
	}
	return true;
}
