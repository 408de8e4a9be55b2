/* Opens a checkpoint and plays a roll: best_move CHECKPOINT POSITION
 *
 *   cargo build --release -p adept-embed
 *   cc -Icrates/embed/include crates/embed/examples/best_move.c -Ltarget/release -ladept_embed -o best_move
 *   LD_LIBRARY_PATH=target/release ./best_move checkpoints/bearoff/residual-10 "1,1,1,1,1,1/0,0,0,0,0,2 65"
 */
#include <stdio.h>

#include "adept.h"

int main(int argc, char **argv)
{
    adept_model *model;
    char move[64], after[64];
    float value, before;

    if (argc != 3) {
        fprintf(stderr, "usage: best_move CHECKPOINT POSITION\n");
        return 2;
    }
    if (adept_open(argv[1], &model) != ADEPT_OK) {
        fprintf(stderr, "error: %s\n", adept_last_error());
        return 1;
    }
    int code = adept_choose(model, argv[2], move, sizeof move, after, sizeof after, &value);
    if (code == ADEPT_OK) {
        const char *position = argv[2];
        code = adept_values(model, &position, 1, &before);
    }
    if (code == ADEPT_OK)
        printf("%s leaves %s, worth %+.4f (of the best move: %+.4f)\n", move, after, value, before);
    else
        fprintf(stderr, "error: %s\n", adept_last_error());
    adept_close(model);
    return code == ADEPT_OK ? 0 : 1;
}
