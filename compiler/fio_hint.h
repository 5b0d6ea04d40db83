/*
 * fio_hint.h - what fio's words are called in a spec, for messages about words that a spec does not have. The importer's tables answer.
 */
#ifndef STB_FIO_HINT_H
#define STB_FIO_HINT_H

#include "compiler/diag.h"

/*
 * Adds what a name of fio's is here, at the carets or as help, to a message about an unknown attribute or word of an io workload; with a fix where
 * the value stays as it is. false: fio has none of that name, nothing was added.
 */
bool stb_fio_hint_attr(struct stb_sink *s, struct stb_diag *d, struct stb_span at, const char *name);
bool stb_fio_hint_word(struct stb_sink *s, struct stb_diag *d, struct stb_span at, const char *attr, const char *word);

#endif
