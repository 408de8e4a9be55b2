/* Evaluations a second of a checkpoint through the C library: speed CHECKPOINT
 *
 * One line a batch size: name, route, rows a call, evaluations a second, the median of seven measurements of 60 ms.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adept.h"

enum { ROWS = 512, RUNS = 8 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double rate(const adept_model *model, const float *dense, const uint64_t *index, size_t rows, float *values)
{
    double rates[RUNS];
    for (int run = 0; run < RUNS; run++) {
        double start = now(), elapsed;
        size_t done = 0;
        do {
            if (adept_evaluate(model, dense, index, rows, values) != ADEPT_OK)
                return 0;
            done += rows;
            elapsed = now() - start;
        } while (elapsed < 0.06);
        rates[run] = (double)done / elapsed;
    }
    /* The first warms up. */
    qsort(rates + 1, RUNS - 1, sizeof *rates, ascending);
    return rates[1 + (RUNS - 1) / 2];
}

int main(int argc, char **argv)
{
    static char texts[ROWS][32];
    static const char *positions[ROWS];
    static float values[ROWS];
    adept_model *model;
    unsigned state = 1;

    if (argc != 2 || adept_open(argv[1], &model) != ADEPT_OK) {
        fprintf(stderr, "usage: speed CHECKPOINT; %s\n", adept_last_error());
        return 1;
    }
    for (int i = 0; i < ROWS; i++) {
        int side[12];
        for (int k = 0; k < 12; k++) {
            state = state * 1664525u + 1013904223u;
            side[k] = (int)(state >> 30 & 1) + (k % 6 == 0);
        }
        snprintf(texts[i], sizeof texts[i], "%d,%d,%d,%d,%d,%d/%d,%d,%d,%d,%d,%d", side[0], side[1], side[2], side[3], side[4],
                 side[5], side[6], side[7], side[8], side[9], side[10], side[11]);
        positions[i] = texts[i];
    }
    float *dense = calloc(ROWS * adept_dense_width(model) + 1, sizeof *dense);
    uint64_t *index = calloc(ROWS * adept_index_width(model) + 1, sizeof *index);
    if (!dense || !index || adept_encode(model, positions, ROWS, dense, index) != ADEPT_OK) {
        fprintf(stderr, "error: %s\n", adept_last_error());
        return 1;
    }
    const char *slash = strrchr(argv[1], '/'), *name = slash ? slash + 1 : argv[1];
    for (size_t rows = 1; rows <= ROWS; rows *= ROWS)
        printf("%s c %zu %.0f\n", name, rows, rate(model, dense, index, rows, values));
    free(dense);
    free(index);
    adept_close(model);
    return 0;
}
