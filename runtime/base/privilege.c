/*
 * privilege.c - capabilities, by system call: libcap would be a library for one bit.
 */
#include "runtime/base/privilege.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

bool stb_has_capability(unsigned capability)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3, .pid = 0 };
	struct __user_cap_data_struct data[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (syscall(SYS_capget, &head, data))
		return geteuid() == 0;
	return data[capability / 32].effective & (1u << (capability % 32));
}
