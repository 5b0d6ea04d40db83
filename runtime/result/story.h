/* story.h - the journal of a run directory as reports need it. Inside runtime/result only. */
#ifndef STB_STORY_H
#define STB_STORY_H

#include "runtime/result/result.h"

/* Hands what dir/journal.jsonl tells to stb_results_set_reason() and stb_results_add_run(). 0, also where there is no journal; -1 with *err where it cannot be read. */
STB_NODISCARD int stb_story_read(struct stb_results *r, const char *dir, struct stb_err *err);

#endif
