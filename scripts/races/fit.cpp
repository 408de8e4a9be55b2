// Fits the networks of crates/builtin/src/backgammon/race.rs, and writes race.f32.
//
//   g++ -O3 -march=native -ffast-math -o fit fit.cpp && ./fit ../../crates/builtin/src/backgammon/race.f32
//
// A side plays alone: to bear off all its checkers in the fewest rolls, or its first one. With all checkers home this is solved exactly. From
// sides drawn at random, all rolls are followed home; the best move is the one that a formula likes best. Mean and variance of the rolls of
// every side on the way are the examples. Each network is fitted to what a simple guess leaves, by Adam.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

using std::vector;

// Checkers off, and on the points 1 to 24.
using Side = std::array<unsigned char, 25>;

struct Moments { float mean, variance; };

enum Goal { ALL, FIRST };

constexpr int POINTS = 6, CHECKERS = 15, HOMES = 54264, THROWS = 21;
constexpr int DRAWN = 3000, MOST_PIPS = 90, STEPS = 500000, BATCH = 64;
constexpr float PER_PIP = 6 / 49.f, VARIANCE_PER_PIP = 0.03f, CHECKER = 0.25f;

struct Throw { int high, low, ways; };
static Throw throws[THROWS];
static int choose[40][40];
static vector<Moments> home[2] = {vector<Moments>(HOMES), vector<Moments>(HOMES)};

static void prepare() {
  for (int n = 0; n < 40; n++)
    for (int k = 0; k <= n; k++) choose[n][k] = k == 0 ? 1 : choose[n - 1][k - 1] + (k < n ? choose[n - 1][k] : 0);
  int at = 0;
  for (int high = 1; high <= 6; high++)
    for (int low = 1; low <= high; low++) throws[at++] = {high, low, high == low ? 1 : 2};
}

static int rank(const Side& side) {
  int rank = 0, sum = 0;
  for (int point = 1; point <= POINTS; point++) sum += side[point], rank += choose[sum + point - 1][point];
  return rank;
}

static int highest(const Side& side) {
  for (int point = 24; point > 0; point--)
    if (side[point]) return point;
  return 0;
}

static bool move(Side& side, int from, int die) {
  if (!side[from]) return false;
  if (from <= die) {
    int most = highest(side);
    if (most > POINTS || (from < die && from < most)) return false;
  }
  side[from]--, side[std::max(from - die, 0)]++;
  return true;
}

template <class F> static void doubles(const Side& side, int die, int left, int most, F& visit) {
  int top = highest(side);
  bool moved = false;
  for (int from = std::min(top, most); left && from > 0; from--) {
    Side next = side;
    if (move(next, from, die)) moved = true, doubles(next, die, left - 1, from, visit);
  }
  // Checkers above may have become free to move.
  if (!moved && left && top > most) return doubles(side, die, left, top, visit);
  if (!moved) visit(side);
}

template <class F> static void results(const Side& side, const Throw& dice, F visit) {
  if (dice.high == dice.low) return doubles(side, dice.high, 4, 24, visit);
  for (int order = 0; order < 2; order++) {
    int one = order ? dice.low : dice.high, two = order ? dice.high : dice.low;
    for (int from = highest(side); from > 0; from--) {
      Side next = side;
      if (!move(next, from, one)) continue;
      int top = highest(next);
      if (!top) visit(next);
      for (int second = top; second > 0; second--) {
        Side last = next;
        if (move(last, second, two)) visit(last);
      }
    }
  }
}

static bool done(const Side& side, Goal goal) { return goal == ALL ? side[0] == CHECKERS : side[0] > 0; }

// The side and its moments by the best move of each roll, the one with the lowest `order`.
template <class Order, class Of> static Moments backed_up(const Side& side, Order order, Of of) {
  float mean = 1, square = 0;
  for (const Throw& dice : throws) {
    float least = 1e9;
    Side best = side;
    results(side, dice, [&](const Side& after) {
      float value = order(after);
      if (value < least) least = value, best = after;
    });
    Moments after = of(best);
    float weight = dice.ways / 36.f;
    mean += weight * after.mean;
    square += weight * (after.variance + (1 + after.mean) * (1 + after.mean));
  }
  return {mean, square - mean * mean};
}

static Moments at_home(const Side& side, Goal goal) { return done(side, goal) ? Moments{0, 0} : home[goal][rank(side)]; }

static void solve(Goal goal) {
  vector<std::pair<int, Side>> all;
  Side side{};
  std::function<void(int, int, int)> list = [&](int point, int left, int pips) {
    if (point > POINTS) {
      side[0] = left;
      if (!done(side, goal)) all.push_back({pips, side});
      return;
    }
    for (int count = 0; count <= left; count++) side[point] = count, list(point + 1, left - count, pips + point * count);
    side[point] = 0;
  };
  list(1, CHECKERS, 0);
  std::sort(all.begin(), all.end());
  auto of = [&](const Side& after) { return at_home(after, goal); };
  for (auto& [pips, one] : all) home[goal][rank(one)] = backed_up(one, [&](const Side& after) { return of(after).mean; }, of);
}

// Checkers from outside on the points 6, 5 and 4, where there are fewest, or all on 6; and the pips of the way.
static Side brought_home(Side side, Goal goal, int& pips) {
  pips = 0;
  for (int point = 24; point > POINTS; point--)
    for (; side[point]; side[point]--) {
      int to = 6;
      if (goal == ALL)
        for (int other : {5, 4})
          if (side[other] < side[to]) to = other;
      side[to]++, pips += point - to;
    }
  return side;
}

// What a network corrects.
static Moments guess(const Side& side, Goal goal) {
  int pips;
  Side near = brought_home(side, goal, pips);
  Moments base = goal == ALL ? at_home(near, ALL) : Moments{1, 0};
  return {base.mean + pips * PER_PIP, base.variance + pips * VARIANCE_PER_PIP};
}

static float order(const Side& side, Goal goal) {
  int outside = 0;
  for (int point = POINTS + 1; point <= 24; point++) outside += side[point];
  if (!outside || done(side, goal)) return at_home(side, goal).mean;
  float waste = goal == ALL ? (0.35f + 0.1f * outside) * PER_PIP : 0.3f + 0.3f * outside;
  return guess(side, goal).mean + waste;
}

struct Hash {
  size_t operator()(const Side& side) const { return std::hash<std::string_view>()({(const char*)side.data(), side.size()}); }
};
static std::unordered_map<Side, Moments, Hash> found;

static Moments followed(const Side& side, Goal goal) {
  if (done(side, goal) || highest(side) <= POINTS) return at_home(side, goal);
  if (auto known = found.find(side); known != found.end()) return known->second;
  Moments moments = backed_up(
      side, [&](const Side& after) { return order(after, goal); }, [&](const Side& after) { return followed(after, goal); });
  return found[side] = moments;
}

static std::mt19937 random_bits(1);
static int below(int n) { return random_bits() % n; }

// Some checkers home, the others up to a limit, alone or in pairs.
static Side drawn(Goal goal) {
  int left = goal == ALL && below(4) == 0 ? 1 + below(CHECKERS) : CHECKERS;
  int limit = 7 + below(18), near = below(1001);
  bool pairs = below(3) == 0;
  Side side{};
  side[0] = CHECKERS - left;
  while (left > 0) {
    int count = pairs && left > 1 && below(2) ? 2 : 1;
    side[1 + below(below(1000) < near ? POINTS : limit)] += count, left -= count;
  }
  return side;
}

constexpr int INPUTS = 25, UNITS = 24, OUTPUTS = 2;
struct Net {
  float first[INPUTS][UNITS], bias[UNITS], second[OUTPUTS][UNITS + 1];
};
constexpr int PARAMETERS = sizeof(Net) / sizeof(float);

static Net fitted(Goal goal) {
  vector<std::pair<Side, std::array<float, 2>>> examples;
  for (auto& [side, moments] : found) {
    Moments base = guess(side, goal);
    examples.push_back({side, {(moments.mean - base.mean) / PER_PIP, (moments.variance - base.variance) * 10}});
  }
  std::sort(examples.begin(), examples.end());
  static Net net, average, slope, mean, square;
  float* p[] = {(float*)&net, (float*)&average, (float*)&slope, (float*)&mean, (float*)&square};
  for (int i = 0; i < PARAMETERS; i++) {
    float range = i < INPUTS * UNITS ? 0.5f : i < (INPUTS + 1) * UNITS ? 0 : 0.1f;
    p[0][i] = p[1][i] = range * (below(2001) - 1000) / 1000.f, p[3][i] = p[4][i] = 0;
  }
  double errors = 0, fall1 = 1, fall2 = 1;
  for (int step = 1; step <= STEPS; step++) {
    slope = Net{};
    for (int k = 0; k < BATCH; k++) {
      auto& [side, wanted] = examples[below(examples.size())];
      float units[UNITS], error[OUTPUTS];
      std::copy(net.bias, net.bias + UNITS, units);
      for (int i = 0; i < INPUTS; i++)
        if (side[i])
          for (int u = 0; u < UNITS; u++) units[u] += CHECKER * side[i] * net.first[i][u];
      for (float& unit : units) unit /= 1 + std::fabs(unit);
      for (int o = 0; o < OUTPUTS; o++) {
        error[o] = net.second[o][UNITS] - wanted[o];
        for (int u = 0; u < UNITS; u++) error[o] += units[u] * net.second[o][u];
        for (int u = 0; u < UNITS; u++) slope.second[o][u] += error[o] * units[u];
        slope.second[o][UNITS] += error[o];
      }
      errors += error[0] * error[0];
      float back[UNITS];
      for (int u = 0; u < UNITS; u++) {
        float steep = 1 - std::fabs(units[u]);
        back[u] = (error[0] * net.second[0][u] + error[1] * net.second[1][u]) * steep * steep;
        slope.bias[u] += back[u];
      }
      for (int i = 0; i < INPUTS; i++)
        if (side[i])
          for (int u = 0; u < UNITS; u++) slope.first[i][u] += CHECKER * side[i] * back[u];
    }
    float rate = 0.01f * (1 - (step - 1.f) / STEPS) + 1e-5f;
    fall1 *= 0.9, fall2 *= 0.999;
    for (int i = 0; i < PARAMETERS; i++) {
      float s = p[2][i] / BATCH;
      p[3][i] += 0.1f * (s - p[3][i]), p[4][i] += 0.001f * (s * s - p[4][i]);
      p[0][i] -= rate * p[3][i] / float(1 - fall1) / (std::sqrt(p[4][i] / float(1 - fall2)) + 1e-8f);
      p[1][i] += 0.005f * (p[0][i] - p[1][i]);
    }
    if (step % (STEPS / 10) == 0) {
      printf("%d of %d steps: %.4f pips\n", step, STEPS, std::sqrt(errors * 10 / STEPS / BATCH));
      fflush(stdout), errors = 0;
    }
  }
  return average;
}

int main(int count, char** arguments) {
  if (count != 2) return fprintf(stderr, "usage: fit FILE\n"), 2;
  prepare();
  Net nets[2];
  for (Goal goal : {ALL, FIRST}) {
    solve(goal);
    found.clear();
    for (int left = DRAWN; left > 0;) {
      Side side = drawn(goal);
      int pips;
      brought_home(side, FIRST, pips);
      // Long ways take long to follow.
      int limit = 1 + below(MOST_PIPS) * below(MOST_PIPS) / MOST_PIPS;
      if (pips > 0 && pips <= limit && !done(side, goal)) followed(side, goal), left--;
    }
    printf("%s: %zu sides\n", goal == ALL ? "all" : "first", found.size());
    fflush(stdout);
    nets[goal] = fitted(goal);
  }
  FILE* file = fopen(arguments[1], "wb");
  bool written = file && fwrite(nets, sizeof nets, 1, file) == 1;
  return file && fclose(file) == 0 && written ? 0 : (perror(arguments[1]), 1);
}
