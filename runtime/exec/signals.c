/* signals.c - see signals.h. */
#include "runtime/exec/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

int stb_signals_open(struct stb_signals *s, struct stb_err *err)
{
	static const int watched[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction was;
	sigset_t ours;

	memset(s, 0, sizeof *s);
	sigemptyset(&ours);
	for (size_t i = 0; i < STB_LEN(watched); i++)
		if (sigaction(watched[i], NULL, &was) || was.sa_handler != SIG_IGN) /* a blocked one would be queued although ignored */
			sigaddset(&ours, watched[i]);
	sigprocmask(SIG_BLOCK, &ours, &s->before);
	s->fd = signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->fd >= 0)
		return 0;
	stb_err_set(err, errno, "cannot watch for signals");
	sigprocmask(SIG_SETMASK, &s->before, NULL);
	return -1;
}

int stb_signals_check(struct stb_signals *s)
{
	struct signalfd_siginfo info;

	while (s->fd >= 0 && read(s->fd, &info, sizeof info) == sizeof info) {
		if (!s->first)
			s->first = (int)info.ssi_signo;
		s->count++;
	}
	return s->first;
}

void stb_signals_child(const struct stb_signals *s)
{
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

void stb_signals_close(struct stb_signals *s)
{
	if (s->fd < 0)
		return;
	stb_signals_check(s);
	close(s->fd);
	s->fd = -1;
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}
