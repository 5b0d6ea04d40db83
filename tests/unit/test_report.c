/* test_report.c - x */
