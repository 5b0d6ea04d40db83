/* message.h - quantities as people read them in messages and progress: rounded, with a unit. Never parsed again. */
#ifndef STB_MESSAGE_H
#define STB_MESSAGE_H

#include "runtime/base/buf.h"
#include "runtime/exec/exec.h"

void stb_text_bytes(struct stb_buf *out, uint64_t bytes);    /* 183.5MiB */
void stb_text_duration(struct stb_buf *out, uint64_t ns);    /* 2.5s, 1m05s */
void stb_text_figure(struct stb_buf *out, double v);         /* 853, 12.3k, 1.20M */

/* A latency in the unit that suits it: "85 ns", "1.66 us", "4.55 ms", "1.20 s". */
void stb_text_latency(struct stb_buf *out, double ms);

#endif
