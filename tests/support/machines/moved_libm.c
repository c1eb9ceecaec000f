/* A C library whose functions are one unit in the last place away: preloaded, it stands for another system's library.
 *
 * A power of two to a whole exponent stays as it is: it is exact in every library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stddef.h>

static double moved(double x) { return x == 0.0 || !isfinite(x) ? x : nextafter(x, INFINITY); }
static float movedf(float x) { return x == 0.0f || !isfinite(x) ? x : nextafterf(x, INFINITY); }

#define MOVE(NAME)                                                                                                     \
    double NAME(double x) {                                                                                            \
        static double (*original)(double) = NULL;                                                                      \
        if (!original) original = (double (*)(double))dlsym(RTLD_NEXT, #NAME);                                         \
        return moved(original(x));                                                                                     \
    }                                                                                                                  \
    float NAME##f(float x) {                                                                                           \
        static float (*original)(float) = NULL;                                                                        \
        if (!original) original = (float (*)(float))dlsym(RTLD_NEXT, #NAME "f");                                       \
        return movedf(original(x));                                                                                    \
    }

#define MOVE_TWO(NAME)                                                                                                 \
    double NAME(double x, double y) {                                                                                  \
        static double (*original)(double, double) = NULL;                                                              \
        int exponent;                                                                                                  \
        if (!original) original = (double (*)(double, double))dlsym(RTLD_NEXT, #NAME);                                 \
        if (floor(y) == y && frexp(x, &exponent) == 0.5) return original(x, y);                                        \
        return moved(original(x, y));                                                                                  \
    }                                                                                                                  \
    float NAME##f(float x, float y) {                                                                                  \
        static float (*original)(float, float) = NULL;                                                                 \
        if (!original) original = (float (*)(float, float))dlsym(RTLD_NEXT, #NAME "f");                                \
        return movedf(original(x, y));                                                                                 \
    }

MOVE(log) MOVE(log1p) MOVE(log2) MOVE(log10) MOVE(exp) MOVE(exp2) MOVE(expm1) MOVE(sin) MOVE(cos) MOVE(tan) MOVE(asin)
MOVE(acos) MOVE(atan) MOVE(sinh) MOVE(cosh) MOVE(tanh) MOVE(cbrt) MOVE(erf) MOVE(erfc) MOVE(lgamma) MOVE(tgamma)
MOVE_TWO(pow) MOVE_TWO(hypot) MOVE_TWO(atan2)
