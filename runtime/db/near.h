/*
 * near.h - on which CPU the server's thread of a connection runs. Inside this room.
 */
#ifndef STB_DB_NEAR_H
#define STB_DB_NEAR_H

#include "runtime/db/client.h"

#include <sys/types.h>

/* A thread of the server; all zero: not known. */
struct stb_near {
	pid_t process, thread;
};

/*
 * Asks an idle connection for its server thread. It is known where the server runs on this machine, is reached by its socket and has a thread for
 * each connection.
 */
struct stb_near stb_near_ask(struct stb_client *c);
/* The CPU that a known thread ran on last; -1: it is gone. */
int stb_near_cpu(const struct stb_near *n);

#endif
