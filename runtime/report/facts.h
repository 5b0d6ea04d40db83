/* facts.h - inside this room: the list below a report's tables. */
#ifndef STB_REPORT_FACTS_H
#define STB_REPORT_FACTS_H

#include "runtime/result/result.h"

/* Lines of a Markdown list; none where there is nothing to say. */
void stb_report_facts(const struct stb_results *r, struct stb_buf *out);

#endif
