/* undo.h - what became of an object that an earlier run announced; negative: it is still there, see the error. */
#ifndef STB_UNDO_H
#define STB_UNDO_H

enum stb_undo {
	STB_UNDO_FAILED = -1,
	STB_UNDONE = 0,
	STB_UNDO_GONE = 1,    /* there was nothing any more */
	STB_UNDO_FOREIGN = 2, /* what is there now is not that run's: a number that was given out again */
};

#endif
