# SPDX-License-Identifier: ISC

# ONCE_TRY_FLAGS(VARIABLE, FLAGS, CHECK)
# Add each flag the compiler takes to VARIABLE; CHECK is "compile" or "link".
AC_DEFUN([ONCE_TRY_FLAGS], [
	for once_flag in $2; do
		AC_MSG_CHECKING([whether $CC takes $once_flag])
		once_saved="$CFLAGS"
		CFLAGS="$CFLAGS -Werror $once_flag"
		m4_if([$3], [link],
			[AC_LINK_IFELSE([AC_LANG_PROGRAM()], [once_takes=yes], [once_takes=no])],
			[AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [once_takes=yes], [once_takes=no])])
		CFLAGS="$once_saved"
		AC_MSG_RESULT([$once_takes])
		AS_IF([test "$once_takes" = yes], [$1="$$1 $once_flag"])
	done
])

# Warnings and hardening, each a switch, so that a packager can have his own.
AC_DEFUN([ONCE_COMPILER_FLAGS], [
	AC_ARG_ENABLE([warnings],
		[AS_HELP_STRING([--enable-warnings=no|yes|error], [compiler warnings (yes)])],
		[], [enable_warnings=yes])
	AC_ARG_ENABLE([hardening],
		[AS_HELP_STRING([--disable-hardening], [build without hardening flags])],
		[], [enable_hardening=yes])
	ONCE_CFLAGS="-std=gnu11"
	ONCE_LDFLAGS=
	AS_IF([test "$enable_warnings" != no], [
		ONCE_TRY_FLAGS([ONCE_CFLAGS], [-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
			-Wmissing-prototypes -Wformat=2 -Wpointer-arith -Wwrite-strings -Wvla], [compile])
	])
	AS_IF([test "$enable_warnings" = error], [ONCE_CFLAGS="$ONCE_CFLAGS -Werror"])
	AS_IF([test "$enable_hardening" = yes], [
		ONCE_TRY_FLAGS([ONCE_CFLAGS], [-fstack-protector-strong -fstack-clash-protection \
			-fcf-protection -fPIE], [compile])
		ONCE_TRY_FLAGS([ONCE_LDFLAGS], [-pie -Wl,-z,relro -Wl,-z,now], [link])
		AS_CASE(["$CPPFLAGS $CFLAGS"],
			[*_FORTIFY_SOURCE*], [],
			[*-O0*], [],
			[*-O*], [AS_IF([test -z "$with_sanitizer" || test "$with_sanitizer" = no],
				[ONCE_CFLAGS="$ONCE_CFLAGS -D_FORTIFY_SOURCE=2"])])
	])
	AC_SUBST([ONCE_CFLAGS])
	AC_SUBST([ONCE_LDFLAGS])
])

# --with-sanitizer=address,undefined
AC_DEFUN([ONCE_SANITIZER], [
	AC_ARG_WITH([sanitizer],
		[AS_HELP_STRING([--with-sanitizer=LIST], [sanitizers to build with, as address,undefined])],
		[], [with_sanitizer=no])
	AS_IF([test "$with_sanitizer" != no], [
		ONCE_CFLAGS="$ONCE_CFLAGS -fsanitize=$with_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer"
		ONCE_LDFLAGS="$ONCE_LDFLAGS -fsanitize=$with_sanitizer"
	])
])

# --enable-libfuzzer
AC_DEFUN([ONCE_LIBFUZZER], [
	AC_ARG_ENABLE([libfuzzer],
		[AS_HELP_STRING([--enable-libfuzzer],
			[build the fuzz targets for libFuzzer (with CC=clang)])],
		[], [enable_libfuzzer=no])
	FUZZ_LDFLAGS='$(AM_LDFLAGS)'
	AS_IF([test "$enable_libfuzzer" = yes], [
		AC_MSG_CHECKING([whether $CC has libFuzzer])
		once_saved="$CFLAGS"
		CFLAGS="$CFLAGS -fsanitize=fuzzer"
		AC_LINK_IFELSE([AC_LANG_SOURCE([[
			#include <stddef.h>
			int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
			int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
			{
				return data == NULL && size > 0;
			}]])], [], [AC_MSG_ERROR([no: it takes clang with its compiler-rt])])
		CFLAGS="$once_saved"
		AC_MSG_RESULT([yes])
		ONCE_CFLAGS="$ONCE_CFLAGS -fsanitize=fuzzer-no-link"
		ONCE_LDFLAGS="$ONCE_LDFLAGS -fsanitize=fuzzer-no-link"
		FUZZ_LDFLAGS="$FUZZ_LDFLAGS -fsanitize=fuzzer"
	])
	AC_SUBST([FUZZ_LDFLAGS])
	AM_CONDITIONAL([LIBFUZZER], [test "$enable_libfuzzer" = yes])
])

# --enable-coverage
AC_DEFUN([ONCE_COVERAGE], [
	AC_ARG_ENABLE([coverage],
		[AS_HELP_STRING([--enable-coverage], [count which lines run (gcov)])],
		[], [enable_coverage=no])
	AS_IF([test "$enable_coverage" = yes], [
		ONCE_CFLAGS="$ONCE_CFLAGS --coverage"
		ONCE_LDFLAGS="$ONCE_LDFLAGS --coverage"
	])
])
