static inline void NAME_copy(const float *x, float *out, int n)
{
    int i;
    for (i = 0; i < n; i++) out[i] = x[i];
}

/* out = row `index` of a table */
static inline void NAME_entry(const float *table, unsigned long index, float *out, int n)
{
    int i;
    for (i = 0; i < n; i++) out[i] = table[index * (unsigned long)n + (unsigned long)i];
}

/* out = x W + b. The weights of the first input come first. */
static inline void NAME_affine(const float *x, int inputs, const float *weight, const float *bias, float *out, int outputs)
{
    int i, j;
    for (j = 0; j < outputs; j++) out[j] = bias[j];
    for (i = 0; i < inputs; i++, weight += outputs) {
        if (x[i] == 0.0f) continue; /* as many inputs are */
        for (j = 0; j < outputs; j++) out[j] += x[i] * weight[j];
    }
}

/* Sensitivities of units: x = beta x */
static inline void NAME_scale(const float *beta, float *x, int n)
{
    int i;
    for (i = 0; i < n; i++) x[i] *= beta[i];
}

static inline void NAME_tanh(float *x, int n)
{
    int i;
    for (i = 0; i < n; i++) x[i] = tanhf(x[i]);
}

static inline void NAME_sigmoid(float *x, int n)
{
    int i;
    for (i = 0; i < n; i++) x[i] = 1.0f / (1.0f + expf(-x[i]));
}

static inline void NAME_relu(float *x, int n)
{
    int i;
    for (i = 0; i < n; i++) if (!(x[i] > 0.0f)) x[i] = 0.0f;
}

static inline void NAME_silu(float *x, int n)
{
    int i;
    for (i = 0; i < n; i++) x[i] /= 1.0f + expf(-x[i]);
}

/* Positive numbers with sum 1: weights of experts, or probabilities. */
static inline void NAME_softmax(float *x, int n)
{
    float largest = x[0], sum = 0.0f;
    int i;
    for (i = 1; i < n; i++) if (x[i] > largest) largest = x[i];
    for (i = 0; i < n; i++) sum += x[i] = expf(x[i] - largest);
    for (i = 0; i < n; i++) x[i] /= sum;
}

/* Only weights above the threshold stay, or the largest one if there is none. Their sum is 1 again. */
static inline void NAME_select(float threshold, float *weights, int n)
{
    float sum = 0.0f;
    int i, largest = 0;
    for (i = 0; i < n; i++) {
        if (weights[i] > weights[largest]) largest = i;
        if (weights[i] > threshold) sum += weights[i];
    }
    for (i = 0; i < n; i++) {
        if (sum > 0.0f) weights[i] = weights[i] > threshold ? weights[i] / sum : 0.0f;
        else weights[i] = i == largest ? 1.0f : 0.0f;
    }
}

/* out = the weighted sum of what the experts say, each `width` numbers */
static inline void NAME_blend(const float *weights, int experts, const float *y, float *out, int width)
{
    int i, k;
    for (k = 0; k < width; k++) out[k] = 0.0f;
    for (i = 0; i < experts; i++)
        for (k = 0; k < width; k++) out[k] += weights[i] * y[i * width + k];
}

/* x = tanh(atanh(prior) + x): the prior, corrected */
static inline void NAME_correct(float prior, float limit, float *x, int n)
{
    int i;
    if (prior > limit) prior = limit;
    if (prior < -limit) prior = -limit;
    for (i = 0; i < n; i++) {
        float t = tanhf(x[i]);
        x[i] = (prior + t) / (1.0f + prior * t);
    }
}

/* x = the distribution p, tilted by a prior value: p_k w_k / sum, with the weights of a win, 1 of a draw, of a
   loss. They are those of the distribution of the greatest entropy with the prior as its value. */
static inline void NAME_tilt(float prior, float limit, float draws, const float *utility, float *x, int n)
{
    float win, loss, sum = 0.0f;
    int i;
    if (prior > limit) prior = limit;
    if (prior < -limit) prior = -limit;
    win = 1.0f + prior;
    loss = 1.0f - prior;
    if (draws > 0.0f) {
        float size = prior < 0.0f ? -prior : prior;
        float s = (size + sqrtf(4.0f - 3.0f * size * size)) / (2.0f * (1.0f - size));
        win = prior < 0.0f ? 1.0f / s : s;
        loss = 1.0f / win;
    }
    for (i = 0; i < n; i++) sum += x[i] *= utility[i] > 0.0f ? win : utility[i] < 0.0f ? loss : 1.0f;
    for (i = 0; i < n; i++) x[i] /= sum;
}
