/*
 * privilege.h - what this process may do beyond others.
 */
#ifndef STB_PRIVILEGE_H
#define STB_PRIVILEGE_H

#include <stdbool.h>

/* Whether the capability (CAP_SYS_ADMIN, of linux/capability.h) is in force; where the kernel does not tell, whether it is root. */
bool stb_has_capability(unsigned capability);

#endif
