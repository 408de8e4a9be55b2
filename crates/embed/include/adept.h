/* adept: checkpoints in programs of one's own.
 *
 * Link with -ladept_embed: libadept_embed.so, .dylib or .dll, built by `cargo build --release -p adept-embed`. The static
 * library libadept_embed.a needs libraries of the system too, on Linux -lm -lpthread -ldl; `cargo rustc --release -p adept-embed
 * -- --print native-static-libs` lists them. Texts are UTF-8 and end in a zero byte. Pointers must be aligned for their types.
 *
 * Threads: a model may be used by any number of threads at once; each call takes a copy of what it changes. Only adept_close
 * must be the last call with a model. The message of adept_last_error belongs to the thread that made the failed call.
 *
 * Systems: built and tested on Linux (x86-64, ARM64). It compiles for Windows (x86_64-pc-windows-gnu) and is not tested there; macOS was
 * not tried.
 *
 * Functions that can fail return one of the codes below; no call unwinds into the calling program. A fault of the library itself
 * (ADEPT_INTERNAL) is also printed on stderr. If memory runs out, the program ends.
 */
#ifndef ADEPT_H
#define ADEPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct adept_model adept_model;

enum {
    ADEPT_OK = 0,
    ADEPT_ARGUMENT = 1,   /* a null pointer, or a text that is not UTF-8 */
    ADEPT_CHECKPOINT = 2, /* not a checkpoint, damaged, of a newer version, or unable to look ahead */
    ADEPT_POSITION = 3,   /* a text is not a position, or no player is to move in it */
    ADEPT_ROWS = 4,       /* a number of a row is not finite, or an index lies outside its channel */
    ADEPT_TOO_SMALL = 5,  /* a buffer for text; the text was cut (see adept_choose_sizes) */
    ADEPT_INTERNAL = 6    /* a fault of the library: please report it */
};

/* Version of the library. */
const char *adept_version(void);

/* What the last call of this thread that failed says of it, until its next call fails. Never NULL. */
const char *adept_last_error(void);

/* Opens a checkpoint folder, or the latest (or the best) checkpoint of a run folder; NULL where it fails. What a published
 * checkpoint names (a prior, a rule file) is in its own folder; the current folder does not matter.
 *
 * "search:BUDGET:PATH" in place of a path looks ahead: "search:4:PATH" by plies, "search:100ms:PATH" by time, "search:10000n:PATH" by
 * valued positions, "search:3,keep=8/4,margin=0.05:PATH" with settings, as in all commands of adept. The budget is for one position.
 * adept_values, adept_choose, adept_moves and adept_explain then search; rows are valued by the network alone. Games that hide
 * information and policies are refused with the reason (ADEPT_CHECKPOINT). A search cannot be interrupted: prefer a time. */
int adept_open(const char *path, adept_model **model);
int adept_open_best(const char *path, adept_model **model);

/* As adept_open, to play another rule set than the checkpoint's own: networks of backgammon and hypergammon that give classes of results
 * play those with the doubling cube, "backgammon:money", "backgammon:money-no-jacoby", "backgammon:match-7" (matches to 1 to 25
 * points) and the same of hypergammon. Others are refused with the reason (ADEPT_CHECKPOINT). Positions are then XGIDs, or Position
 * IDs with a Match ID, with their cube, score and offered double; one of other rules is refused (ADEPT_POSITION). Values count the cube,
 * and moves include "double", "roll", "take" and "drop". In money games scale is 192 points, three times a cube of 64; in matches a value of 1
 * is the match won. Rows are those of the network, without the cube, for the opponent of the side to roll: three times their value is in points. */
int adept_open_as(const char *path, const char *game, adept_model **model);

/* Frees a model. NULL is allowed. */
void adept_close(adept_model *model);

/* What a model is, as a JSON object: game, encoder, head, range, scale, channels (name, kind, first column, width, meaning),
 * dense_width, index_width, experiment, seed, step, parameters, checksum, and search if it looks ahead. It lives as long as the model;
 * NULL for a NULL model.
 *
 * head    "value"; {"outcomes": [{name, utility, mirror}, ...]}: probabilities of these classes; or "policy": scores of moves, whose softmax
 *         over the moves of a decision is the probability of each.
 * range   [lowest, highest] of what the network computes, or null if nothing bounds it. It follows from the last layer of the
 *         network: [-1, 1] for tanh and for a residual, [0, 1] for sigmoid, null for linear ones such as `soar-net` and all of
 *         hold'em.
 * scale   the largest result of the game. A value is a result divided by it: value * scale is in units of the game, such as
 *         chips in hold'em. It is 1 where a game is won or lost. */
const char *adept_describe(const adept_model *model);

/* Floats and integers of a row; 0 for a NULL model. */
size_t adept_dense_width(const adept_model *model);
size_t adept_index_width(const adept_model *model);

/* Values of positions for the player to move, in the range of adept_describe: of the best move; of the position itself where a roll
 * is to come first. Of a finished game, and of a move that ends it, the value is exact and lies in [-1, 1]. For a finished game it is
 * that of the player who would be to move. */
int adept_values(const adept_model *model, const char *const *positions, size_t count, float *values);

/* The best move of a position as people write it, the position after it, and its value for the player who makes it, in the same range.
 * Any of the three may be NULL. A text that does not fit is cut, the code is ADEPT_TOO_SMALL, and all else is given. 64 bytes are
 * enough for all texts of tic-tac-toe, Connect Four and the bear-off. In backgammon a move needs 64 and a position 160. Other games have
 * longer positions: ask adept_choose_sizes. A model that looks ahead searches for the best move alone, which is faster than adept_moves. */
int adept_choose(const adept_model *model, const char *position, char *move, size_t move_size, char *after,
                 size_t after_size, float *value);

/* Sizes of the buffers that adept_choose needs for this position, in bytes with the zero byte. Either may be NULL. It evaluates the
 * moves as adept_choose does, so keep buffers that were large enough. It does not search: with a model that looks ahead, the sizes fit
 * every move. */
int adept_choose_sizes(const adept_model *model, const char *position, size_t *move_size, size_t *after_size);

/* All moves of a position, best first, as a JSON array of {action, after, value}. Free it with adept_free; NULL where it fails. */
int adept_moves(const adept_model *model, const char *position, char **json);

/* What the model thinks of a position and of every move, with its gates and experts, as a JSON object. A model that looks ahead adds
 * search: {plies, nodes, solved, line}, with the moves that it expects, in place of gates and experts. Free it with adept_free; NULL where it
 * fails. */
int adept_explain(const adept_model *model, const char *position, char **json);

/* Figures of adept_reading, in its order, for the side to roll. Equities are in points for each unit of the cube; in a match they are
 * EMG: -1 is as good as losing the cube's value, and 1 as winning it. */
enum {
    ADEPT_CUBELESS = 0,    /* equity without a cube; in a match, with a cube that nobody turns again */
    ADEPT_NO_DOUBLE = 1,   /* equity of rolling without a double */
    ADEPT_DOUBLE_TAKE = 2, /* equity of a double that is taken */
    ADEPT_DOUBLE_PASS = 3, /* equity of a double that is dropped: 1 */
    ADEPT_WIN_GAME = 4,    /* chance of winning the game */
    ADEPT_WIN_MATCH = 5,   /* chance of winning the match, with the better decision */
    ADEPT_DOUBLE_FROM = 6, /* chance of winning the game from which a double is right, with the same shares of gammons */
    ADEPT_PASS_FROM = 7,   /* chance of winning the game from which the other side drops */
    ADEPT_FIGURES = 8      /* their number */
};

/* Name of a figure, as in the reading of adept_explain: "cubeless", "no double", ... NULL from ADEPT_FIGURES on. It lives as long as the program. */
const char *adept_figure_name(size_t figure);

/* Figures of a decision about the cube, by a model of adept_open_as without a search, before a roll or while a double waits for its answer;
 * other positions are refused (ADEPT_POSITION). The first `count` figures are written, at most ADEPT_FIGURES. NaN stands for those that do
 * not exist: of a double where the side to roll may not double, of a match in money games. `advice` is "no double", "double, take",
 * "double, pass", "too good to double", "take", "pass", or "roll" where nothing is to be decided; 32 bytes are enough. It may be NULL. */
int adept_reading(const adept_model *model, const char *position, double *figures, size_t count, char *advice,
                  size_t advice_size);

/* Rows of positions as they stand, for the player who just moved: dense [count, dense_width], index [count, index_width], row by
 * row. A buffer of width 0 may be NULL. */
int adept_encode(const adept_model *model, const char *const *positions, size_t count, float *dense, uint64_t *index);

/* Values of rows for the player who just moved, in the range of adept_describe. A buffer of width 0 may be NULL. */
int adept_evaluate(const adept_model *model, const float *dense, const uint64_t *index, size_t rows, float *values);

/* Number of classes of outcomes; 0 if the model gives one number a row. adept_describe names them, in `head`. */
size_t adept_classes(const adept_model *model);

/* Probabilities of the outcomes after rows, for the player who just moved: [rows, adept_classes], row by row. A buffer of width 0 may
 * be NULL. A row does not tell which outcomes are impossible, so that these have a probability here and count in adept_evaluate;
 * adept_values, adept_moves and adept_explain know the position, and leave them out. */
int adept_outcomes(const adept_model *model, const float *dense, const uint64_t *index, size_t rows, float *outcomes);

/* Frees a text of adept_moves or adept_explain, which must have kept its length. NULL is allowed. */
void adept_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
