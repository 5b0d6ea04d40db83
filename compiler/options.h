/*
 * options.h - what may be handed through to a server (options { }) and to mkfs and mount: the one place where a spec's words reach programs
 * that stb does not write itself.
 */
#ifndef STB_OPTIONS_H
#define STB_OPTIONS_H

#include "compiler/model.h"

/* The value of options.NAME as the STRING that goes into the server's own option file. false: reported. */
bool stb_option_make(struct stb_model *m, const struct stb_schema_attr *row, const struct stb_name *name, const struct stb_node *value,
	struct stb_val *out);

/*
 * What is wrong with a list of mkfs or mount options, NULL for nothing. filesystem NULL: where it is not known yet, right for any will do.
 * *item: which one.
 */
const char *stb_fsopt_problem(struct stb_arena *a, const char *filesystem, bool mkfs, const struct stb_val *list, uint32_t *item);
/* The same as a diagnostic at the item; NULL: nothing is wrong. */
struct stb_diag *stb_report_fsopt(struct stb_model *m, const struct stb_setting *list, const char *filesystem);

#endif
