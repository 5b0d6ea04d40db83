/*
 * json.h - the canonical JSON form of a plan: what json_print.c and json_load.c agree on. Private to runtime/plan.
 *
 * One object: stb_plan (version of the form), suite, profile, params, blocks, matrices, groups, cells, reports, claims, privileges, secrets,
 * notes, hash, source; one block, group, cell, ... a line. What is not stated is left out. References to blocks, groups, matrices and cells are
 * indices into those arrays; axes and their values go by name. An unsigned number beyond 2^63-1 is a string of digits.
 *
 * A value describes itself, its unit in the key:
 *
 *   none null       boolean true            count 16                  bytes {"bytes":4096}      time {"ns":5000000000}
 *   share {"percent":70}                    rate {"per_s":1000}       byte rate {"bytes_per_s":1}
 *   clock {"at":"03:00"}                    string "text"             word {"word":"psync"}     reference {"ref":"data"}
 *   secret {"secret":"env:DB_PASSWORD"}     list [...]                range {"from":2,"to":null}  map {"map":{...}}
 *
 * A fraction is a string "num/den" in place of the number; of a count it is {"count":"5/2"}. A share whose percentage does not fit 64 bits is
 * {"share":"num/den"}.
 *
 * `source` says where things were written: files, their common hash, and a place and origin per owner ("blocks[3].bs"). Neither the plan's
 * hash nor anything outside depends on it, so that a spec and its reformatting give the same plan.
 */
#ifndef STB_PLAN_JSON_H
#define STB_PLAN_JSON_H

#include "runtime/plan/plan.h"

#define STB_PLAN_FORM 1

/* The hash of all source files together, as in source.spec. */
void stb_plan_spec_hash(const struct stb_plan *p, char out[STB_HASH_HEX]);

/* stb_plan_load_bytes() without its last check: the hash may be another. */
STB_NODISCARD int stb_plan_parse_bytes(struct stb_plan **out, const char *path, const char *bytes, size_t len, struct stb_err *err);

#endif
