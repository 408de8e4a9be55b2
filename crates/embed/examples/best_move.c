/* Opens a checkpoint and plays a roll: best_move CHECKPOINT POSITION
 *
 *   cargo build --release -p adept-embed
 *   cc -Icrates/embed/include crates/embed/examples/best_move.c -Ltarget/release -ladept_embed -o best_move
 *   LD_LIBRARY_PATH=target/release ./best_move checkpoints/bearoff/residual-10 "1,1,1,1,1,1/0,0,0,0,0,2 65"
 */
#include <stdio.h>
#include <stdlib.h>

#include "adept.h"

int main(int argc, char **argv)
{
    adept_model *model;
    char *move = NULL, *after = NULL;
    size_t move_size, after_size;
    float value, before;

    if (argc != 3) {
        fprintf(stderr, "usage: best_move CHECKPOINT POSITION\n");
        return 2;
    }
    if (adept_open(argv[1], &model) != ADEPT_OK) {
        fprintf(stderr, "error: %s\n", adept_last_error());
        return 1;
    }
    /* Works for every game; where all texts are short, as in the bear-off, `char move[64]` does. */
    int code = adept_choose_sizes(model, argv[2], &move_size, &after_size);
    if (code == ADEPT_OK) {
        move = malloc(move_size);
        after = malloc(after_size);
        if (!move || !after)
            return 1;
        code = adept_choose(model, argv[2], move, move_size, after, after_size, &value);
    }
    if (code == ADEPT_OK) {
        const char *position = argv[2];
        code = adept_values(model, &position, 1, &before);
    }
    if (code == ADEPT_OK)
        printf("%s leaves %s, worth %+.4f (of the best move: %+.4f)\n", move, after, value, before);
    else
        fprintf(stderr, "error: %s\n", adept_last_error());
    free(move);
    free(after);
    adept_close(model);
    return code == ADEPT_OK ? 0 : 1;
}
