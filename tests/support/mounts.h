/*
 * mounts.h - a mount namespace of the test's own, in which it may mount what it likes and nobody else sees it.
 */
#ifndef STB_TEST_MOUNTS_H
#define STB_TEST_MOUNTS_H

#include <stdbool.h>

/*
 * Moves the calling process (fork first) into a namespace where no mount leaks out. In a chroot, whose / is no mount, the process also moves
 * into a bind of / on /mnt, seen by it alone; paths stay the same. false: not allowed here.
 */
bool test_own_mounts(void);

#endif
