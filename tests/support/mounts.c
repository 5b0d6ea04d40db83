/* mounts.c - see mounts.h. */
#include "tests/support/mounts.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <unistd.h>

bool test_own_mounts(void)
{
	if (unshare(CLONE_NEWNS))
		return false;
	if (!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return true;
	if (errno != EINVAL) /* EINVAL: / is not a mount point, as in a chroot */
		return false;
	return !mount("/", "/mnt", NULL, MS_BIND | MS_REC, NULL) && !mount(NULL, "/mnt", NULL, MS_REC | MS_PRIVATE, NULL) && !chroot("/mnt") &&
		!chdir("/");
}
