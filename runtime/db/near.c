/*
 * near.c - on which CPU the server's thread of a connection runs.
 *
 * Sending a statement wakes that thread. On its own CPU a waker does that in about a microsecond; on another one it takes that one's run queue
 * lock from it, and often interrupts it, which both sides pay for at each statement. A thread that serves a single connection is drawn to its
 * partner by the kernel; one that serves many is taken for a master of servants whom it had better leave where they are (wake_wide() of
 * kernel/sched/fair.c), so half of its wake-ups go elsewhere on two CPUs, and all but one in n on n. Only the client can bring them together
 * then (crew.c), and for that it needs to know where they are.
 *
 * The connection tells which thread serves it, the kernel where that runs. A thread is believed only where it is one of the process at the other
 * end of the socket: a server in another PID namespace counts by other numbers.
 */
#include "runtime/db/near.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STAT_BYTES 512
#define STAT_CPU 37 /* fields from the name's closing bracket to `processor`; proc(5) counts from one, the two before included */

static const char *const of_mariadb = "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID() "
	"AND @@thread_handling = 'one-thread-per-connection'";
static const char *const of_mysql = "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID() "
	"AND @@thread_handling = 'one-thread-per-connection'";

struct stb_near stb_near_ask(struct stb_client *c)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);
	char thread[32];
	bool found;

	if (getsockopt(stb_client_socket(c), SOL_SOCKET, SO_PEERCRED, &peer, &len) || peer.pid <= 0)
		return (struct stb_near){0};
	if (stb_client_cell(c, stb_client_server_is_mariadb(c) ? of_mariadb : of_mysql, thread, sizeof(thread), &found) || !found)
		return (struct stb_near){0};
	const struct stb_near n = {.process = peer.pid, .thread = (pid_t)atoi(thread)};

	return stb_near_cpu(&n) >= 0 ? n : (struct stb_near){0};
}

int stb_near_cpu(const struct stb_near *n)
{
	char path[64], text[STAT_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", n->process, n->thread);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	const ssize_t got = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	const char *field = strrchr(text, ')');

	for (int i = 0; field && i < STAT_CPU; i++)
		field = strchr(field + 1, ' ');
	return field ? atoi(field + 1) : -1;
}
