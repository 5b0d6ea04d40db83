/* spec.c - see spec.h. */
#include "tests/unit/spec.h"

#include <stdlib.h>
#include <string.h>

void spec_open(struct spec *s, const char *text)
{
	stb_compilation_init(&s->c);
	const uint32_t file = stb_sources_add(&s->c.sources, "test.stb", text, strlen(text));

	s->m = stb_resolve(&s->c, file, &s->o, false);
	stb_check(s->m);
	if (s->o.profile)
		stb_profile_apply(s->m, s->o.profile);
}

void spec_close(struct spec *s)
{
	stb_compilation_fini(&s->c);
}

const char *spec_value(struct spec *s, enum stb_kind kind, const char *name, const char *key)
{
	const struct stb_block *b = stb_model_find(s->m, kind, name);
	const struct stb_setting *t = b ? stb_block_setting(b, key) : NULL;

	if (!b || !t)
		return "-";
	return t->val.type == STB_V_NONE ? "none" : stb_val_text(&s->c.arena, &t->val);
}

unsigned spec_count(const struct spec *s, enum stb_code code)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < s->c.sink.n_diags; i++)
		n += s->c.sink.diags[i]->code == code;
	return n;
}

char *spec_text(struct spec *s, enum stb_diag_format format)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	stb_sink_print(&s->c.sink, format, out);
	fclose(out);
	return text;
}
