/* Row-wise parts of the student's training step on a CPU, forward and backward.
 *
 * The matrix products stay with torch (int8 forward, bfloat16 backward); what lies between two
 * products is one pass over memory here. Every function works on its own rows only and keeps no
 * state, so that several Python threads may call them at once.
 *
 * Shapes: m rows (tokens), d model width, f ffn width. bfloat16 is passed as uint16_t.
 * A text t owns rows starts[t] … starts[t+1]-1.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define EPS 1e-5f
#define WIDEST 4096
#define LONGEST 512

static inline uint16_t to_bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static inline float from_bf16(uint16_t value) {
    uint32_t bits = (uint32_t)value << 16;
    float out;
    memcpy(&out, &bits, 4);
    return out;
}

/* Mean and 1/sqrt(variance + eps) of one row. */
static void moments(const float *x, int n, float *mean, float *rstd) {
    float sum = 0.0f, square = 0.0f;
    for (int j = 0; j < n; j++) sum += x[j];
    const float mu = sum / (float)n;
    for (int j = 0; j < n; j++) square += (x[j] - mu) * (x[j] - mu);
    *mean = mu;
    *rstd = 1.0f / sqrtf(square / (float)n + EPS);
}

/* Normalise a row without parameters and quantise it to int8; also as bfloat16. */
static void quantise(const float *x, int n, int8_t *q, uint16_t *q16, float *scale) {
    float mean, rstd, top = 0.0f;
    moments(x, n, &mean, &rstd);
    for (int j = 0; j < n; j++) {
        const float size = fabsf((x[j] - mean) * rstd);
        top = size > top ? size : top;
    }
    const float s = 128.0f / (top > EPS ? top : EPS);
    *scale = s;
    for (int j = 0; j < n; j++) {
        float r = rintf((x[j] - mean) * rstd * s);
        r = r > 127.0f ? 127.0f : r;
        r = r < -128.0f ? -128.0f : r;
        q[j] = (int8_t)(int32_t)r;
        q16[j] = to_bf16(r);
    }
}

/* Backward of a layer norm without parameters: from dz (in place) and its input x to dx. */
static void norm_back(const float *x, int n, float mean, float rstd, float *dz) {
    float sum = 0.0f, along = 0.0f;
    for (int j = 0; j < n; j++) {
        sum += dz[j];
        along += dz[j] * (x[j] - mean);
    }
    const float shift = sum / (float)n, slope = along * rstd * rstd / (float)n;
    for (int j = 0; j < n; j++) dz[j] = rstd * (dz[j] - shift - (x[j] - mean) * slope);
}

/* A gradient row as int8 with its own scale, for the product that goes to the layer's input. Its
 * rounding is about a hundredth of the row's size. */
static void narrow(const float *v, int n, int8_t *v8, float *scale) {
    float top = 0.0f;
    for (int j = 0; j < n; j++) top = fabsf(v[j]) > top ? fabsf(v[j]) : top;
    const float s = top > 0.0f ? 127.0f / top : 0.0f;
    *scale = top / 127.0f;
    for (int j = 0; j < n; j++) v8[j] = (int8_t)(int32_t)rintf(v[j] * s);
}

/* q = quantise(LN(x; w, b)); w may be null: then x itself is quantised. */
void tern_norm_quant(const float *x, const float *w, const float *b, int m, int d, int8_t *q,
                     uint16_t *q16, float *scale) {
    float row[WIDEST];
    for (int i = 0; i < m; i++) {
        const float *at = x + (size_t)i * d;
        if (w) {
            float mean, rstd;
            moments(at, d, &mean, &rstd);
            for (int j = 0; j < d; j++) row[j] = (at[j] - mean) * rstd * w[j] + b[j];
            at = row;
        }
        quantise(at, d, q + (size_t)i * d, q16 + (size_t)i * d, scale + i);
    }
}

/* y = x + (acc + bias) / (weight_scale * scale). */
void tern_residual(const float *x, const int32_t *acc, const float *bias, const float *scale,
                   float weight_scale, int m, int d, float *y) {
    for (int i = 0; i < m; i++) {
        const float back = 1.0f / (weight_scale * scale[i]);
        const size_t at = (size_t)i * d;
        for (int j = 0; j < d; j++) y[at + j] = x[at + j] + ((float)acc[at + j] + bias[j]) * back;
    }
}

/* erf by Abramowitz and Stegun 7.1.26, absolute error 1.5e-7. */
static inline float erf_near(float v) {
    const float size = fabsf(v), t = 1.0f / (1.0f + 0.3275911f * size);
    const float poly =
        t * (0.254829592f +
             t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    const float value = 1.0f - poly * expf(-size * size);
    return v < 0.0f ? -value : value;
}

/* q = quantise(gelu((acc + bias) / (weight_scale * scale))). */
void tern_gelu_quant(const int32_t *acc, const float *bias, const float *scale, float weight_scale,
                     int m, int f, int8_t *q, uint16_t *q16, float *out_scale) {
    float row[WIDEST];
    for (int i = 0; i < m; i++) {
        const float back = 1.0f / (weight_scale * scale[i]);
        const int32_t *at = acc + (size_t)i * f;
        for (int j = 0; j < f; j++) {
            const float h = ((float)at[j] + bias[j]) * back;
            row[j] = 0.5f * h * (1.0f + erf_near(h * 0.70710678f));
        }
        quantise(row, f, q + (size_t)i * f, q16 + (size_t)i * f, out_scale + i);
    }
}

/* v = dy / scale as bf16 in g and as int8 in g8; db += v / weight_scale. */
void tern_scale_grad(const float *dy, const float *scale, float weight_scale, int m, int d,
                     uint16_t *g, float *db, int8_t *g8, float *g8_scale) {
    float row[WIDEST];
    const float over = 1.0f / weight_scale;
    for (int i = 0; i < m; i++) {
        const float back = 1.0f / scale[i];
        const size_t at = (size_t)i * d;
        for (int j = 0; j < d; j++) {
            const float v = row[j] = dy[at + j] * back;
            g[at + j] = to_bf16(v);
            db[j] += v * over;
        }
        narrow(row, d, g8 + at, g8_scale + i);
    }
}

/* Backward through down's quantiser, gelu and up's rescale. dz * dz_scale is the gradient of down's
 * input over scale_down: times scale_down and over_down it is that of the normalised gelu. */
void tern_gelu_back(const int32_t *acc, const float *bias, const float *scale, float weight_scale,
                    const int32_t *dz, const float *dz_scale, const float *scale_down,
                    float over_down, int m, int f, uint16_t *g, float *db, int8_t *g8,
                    float *g8_scale) {
    float h[WIDEST], u[WIDEST], slope[WIDEST], du[WIDEST];
    const float over = 1.0f / weight_scale;
    for (int i = 0; i < m; i++) {
        const float back = over / scale[i], grow = dz_scale[i] * scale_down[i] * over_down;
        const size_t at = (size_t)i * f;
        for (int j = 0; j < f; j++) {
            h[j] = ((float)acc[at + j] + bias[j]) * back;
            const float phi = 0.5f * (1.0f + erf_near(h[j] * 0.70710678f));
            u[j] = h[j] * phi;
            slope[j] = phi + h[j] * 0.39894228f * expf(-0.5f * h[j] * h[j]);
            du[j] = (float)dz[at + j] * grow;
        }
        float mean, rstd;
        moments(u, f, &mean, &rstd);
        norm_back(u, f, mean, rstd, du);
        const float in = 1.0f / scale[i];
        for (int j = 0; j < f; j++) {
            const float v = du[j] = du[j] * slope[j] * in;
            g[at + j] = to_bf16(v);
            db[j] += v * over;
        }
        narrow(du, f, g8 + at, g8_scale + i);
    }
}

/* Backward of quantise alone: da from dz; a is the quantiser's input. */
void tern_norm_back(const float *a, const int32_t *dz, const float *dz_scale, const float *scale,
                    float over, int m, int d, float *da) {
    for (int i = 0; i < m; i++) {
        const size_t at = (size_t)i * d;
        const float grow = dz_scale[i] * scale[i] * over;
        float mean, rstd;
        for (int j = 0; j < d; j++) da[at + j] = (float)dz[at + j] * grow;
        moments(a + at, d, &mean, &rstd);
        norm_back(a + at, d, mean, rstd, da + at);
    }
}

/* Backward of quantise(LN(x; w, b)): dx += …, dw += …, db += …. */
void tern_block_back(const float *x, const float *w, const float *b, const int32_t *dz,
                     const float *dz_scale, const float *scale, float over, int m, int d,
                     float *dx, float *dw, float *db) {
    float hat[WIDEST], n[WIDEST], dn[WIDEST];
    for (int i = 0; i < m; i++) {
        const size_t at = (size_t)i * d;
        const float grow = dz_scale[i] * scale[i] * over;
        float mean, rstd, mean_n, rstd_n;
        moments(x + at, d, &mean, &rstd);
        for (int j = 0; j < d; j++) {
            hat[j] = (x[at + j] - mean) * rstd;
            n[j] = hat[j] * w[j] + b[j];
            dn[j] = (float)dz[at + j] * grow;
        }
        moments(n, d, &mean_n, &rstd_n);
        norm_back(n, d, mean_n, rstd_n, dn);
        for (int j = 0; j < d; j++) {
            dw[j] += dn[j] * hat[j];
            db[j] += dn[j];
            dn[j] *= w[j];
        }
        norm_back(x + at, d, mean, rstd, dn);
        for (int j = 0; j < d; j++) dx[at + j] += dn[j];
    }
}

/* p[t] = mean over a text's rows of LN(x; w, b). */
void tern_pool(const float *x, const float *w, const float *b, const int32_t *starts, int texts,
               int d, float *p) {
    for (int t = 0; t < texts; t++) {
        float sum[WIDEST];
        const float share = 1.0f / (float)(starts[t + 1] - starts[t]);
        memset(sum, 0, sizeof(float) * (size_t)d);
        for (int i = starts[t]; i < starts[t + 1]; i++) {
            const float *at = x + (size_t)i * d;
            float mean, rstd;
            moments(at, d, &mean, &rstd);
            for (int j = 0; j < d; j++) sum[j] += (at[j] - mean) * rstd;
        }
        for (int j = 0; j < d; j++) p[(size_t)t * d + j] = sum[j] * share * w[j] + b[j];
    }
}

/* Backward of tern_pool: dx is written, dw and db grow. */
void tern_pool_back(const float *x, const float *w, const int32_t *starts, int texts, int d,
                    const float *dp, float *dx, float *dw, float *db) {
    for (int t = 0; t < texts; t++) {
        const float share = 1.0f / (float)(starts[t + 1] - starts[t]);
        const float *g = dp + (size_t)t * d;
        for (int j = 0; j < d; j++) db[j] += g[j];
        for (int i = starts[t]; i < starts[t + 1]; i++) {
            const float *at = x + (size_t)i * d;
            float *to = dx + (size_t)i * d, mean, rstd;
            moments(at, d, &mean, &rstd);
            for (int j = 0; j < d; j++) {
                dw[j] += g[j] * share * (at[j] - mean) * rstd;
                to[j] = g[j] * share * w[j];
            }
            norm_back(at, d, mean, rstd, to);
        }
    }
}

/* q, k, v of one text and head as floats, each [tokens, dh] packed. acc rows are [q | k | v]. */
static inline __attribute__((always_inline)) void take_head(const int32_t *acc, const float *scale, const float *over, int tokens, int d,
                      int dh, int head, float *q, float *k, float *v) {
    for (int i = 0; i < tokens; i++) {
        const int32_t *at = acc + (size_t)i * 3 * d + head * dh;
        const float in = 1.0f / scale[i];
        const float sq = in * over[0], sk = in * over[1], sv = in * over[2];
        for (int j = 0; j < dh; j++) {
            q[i * dh + j] = (float)at[j] * sq;
            k[i * dh + j] = (float)at[d + j] * sk;
            v[i * dh + j] = (float)at[2 * d + j] * sv;
        }
    }
}

static inline __attribute__((always_inline)) void softmax_row(const float *q, const float *k, int tokens, int dh, float sharp, float *p) {
    float top = -INFINITY, sum = 0.0f;
    for (int j = 0; j < tokens; j++) {
        float dot = 0.0f;
        for (int c = 0; c < dh; c++) dot += q[c] * k[j * dh + c];
        p[j] = dot * sharp;
        top = p[j] > top ? p[j] : top;
    }
    for (int j = 0; j < tokens; j++) {
        p[j] = expf(p[j] - top);
        sum += p[j];
    }
    const float over = 1.0f / sum;
    for (int j = 0; j < tokens; j++) p[j] *= over;
}

static inline __attribute__((always_inline)) void attention(
    const int32_t *acc, const float *scale, const float *over, const int32_t *starts, int texts,
    int longest, int heads, int d, int dh, float *scratch, float *a) {
    const float sharp = 1.0f / sqrtf((float)dh);
    float *q = scratch, *k = q + longest * dh, *v = k + longest * dh, p[LONGEST];
    for (int t = 0; t < texts; t++) {
        const int from = starts[t], tokens = starts[t + 1] - from;
        for (int head = 0; head < heads; head++) {
            take_head(acc + (size_t)from * 3 * d, scale + from, over, tokens, d, dh, head, q, k, v);
            for (int i = 0; i < tokens; i++) {
                float *to = a + (size_t)(from + i) * d + head * dh;
                softmax_row(q + i * dh, k, tokens, dh, sharp, p);
                for (int c = 0; c < dh; c++) to[c] = 0.0f;
                for (int j = 0; j < tokens; j++)
                    for (int c = 0; c < dh; c++) to[c] += p[j] * v[j * dh + c];
            }
        }
    }
}

/* a = softmax(q kᵀ / sqrt(dh)) v per head; over = 1 / weight scale of q, k, v.
 * scratch: 6 * longest * dh floats, longest the most tokens of a text. */
void tern_attention(const int32_t *acc, const float *scale, const float *over,
                    const int32_t *starts, int texts, int longest, int heads, int d, float *scratch,
                    float *a) {
    if (d == 64 * heads) /* the usual width, known to the compiler */
        attention(acc, scale, over, starts, texts, longest, heads, d, 64, scratch, a);
    else
        attention(acc, scale, over, starts, texts, longest, heads, d, d / heads, scratch, a);
}

static inline __attribute__((always_inline)) void attention_back(
    const int32_t *acc, const float *scale, const float *over, const int32_t *starts, int texts,
    int longest, int heads, int d, int dh, const float *da, float *scratch, uint16_t *g,
    int8_t *g8, float *g8_scale) {
    const int part = longest * dh;
    float row[WIDEST];
    const float sharp = 1.0f / sqrtf((float)dh);
    float *q = scratch, *k = q + part, *v = k + part;
    float *dq = v + part, *dk = dq + part, *dv = dk + part, p[LONGEST], dp[LONGEST];
    for (int t = 0; t < texts; t++) {
        const int from = starts[t], tokens = starts[t + 1] - from;
        for (int head = 0; head < heads; head++) {
            take_head(acc + (size_t)from * 3 * d, scale + from, over, tokens, d, dh, head, q, k, v);
            memset(dq, 0, sizeof(float) * 3 * (size_t)part);
            for (int i = 0; i < tokens; i++) {
                const float *up = da + (size_t)(from + i) * d + head * dh;
                float along = 0.0f;
                softmax_row(q + i * dh, k, tokens, dh, sharp, p);
                for (int j = 0; j < tokens; j++) {
                    float dot = 0.0f;
                    for (int c = 0; c < dh; c++) {
                        dot += up[c] * v[j * dh + c];
                        dv[j * dh + c] += p[j] * up[c];
                    }
                    dp[j] = dot;
                    along += dot * p[j];
                }
                for (int j = 0; j < tokens; j++) {
                    const float ds = p[j] * (dp[j] - along) * sharp;
                    for (int c = 0; c < dh; c++) {
                        dq[i * dh + c] += ds * k[j * dh + c];
                        dk[j * dh + c] += ds * q[i * dh + c];
                    }
                }
            }
            for (int i = 0; i < tokens; i++) {
                uint16_t *to = g + (size_t)(from + i) * 3 * d + head * dh;
                const float in = 1.0f / scale[from + i];
                for (int c = 0; c < dh; c++) {
                    to[c] = to_bf16(dq[i * dh + c] * in);
                    to[d + c] = to_bf16(dk[i * dh + c] * in);
                    to[2 * d + c] = to_bf16(dv[i * dh + c] * in);
                }
            }
        }
        for (int i = from; i < from + tokens; i++) {
            for (int c = 0; c < 3; c++)
                for (int j = 0; j < d; j++)
                    row[c * d + j] = from_bf16(g[(size_t)i * 3 * d + c * d + j]) * over[c];
            narrow(row, 3 * d, g8 + (size_t)i * 3 * d, g8_scale + i);
        }
    }
}

/* Backward of tern_attention: g [m, 3d] = bf16(d(q|k|v) / scale), and narrow() of it with each
 * part's weight scale taken out. */
void tern_attention_back(const int32_t *acc, const float *scale, const float *over,
                         const int32_t *starts, int texts, int longest, int heads, int d,
                         const float *da, float *scratch, uint16_t *g, int8_t *g8,
                         float *g8_scale) {
    if (d == 64 * heads)
        attention_back(acc, scale, over, starts, texts, longest, heads, d, 64, da, scratch, g, g8,
                       g8_scale);
    else
        attention_back(acc, scale, over, starts, texts, longest, heads, d, d / heads, da, scratch,
                       g, g8, g8_scale);
}

/* Ternary codes of a BitLinear weight of n elements; returns its scale through *scale. The median
 * is the lower middle value, found by counting the upper and then the lower halves of the bits. */
void tern_ternary(const float *w, int n, uint32_t *counts, int8_t *codes, float *scale) {
    uint32_t left = (uint32_t)(n - 1) / 2, high = 0, low = 0;
    memset(counts, 0, 65536 * sizeof(uint32_t));
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, w + i, 4);
        counts[(bits & 0x7fffffffu) >> 16]++;
    }
    while (left >= counts[high]) left -= counts[high++];
    memset(counts, 0, 65536 * sizeof(uint32_t));
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, w + i, 4);
        bits &= 0x7fffffffu;
        if (bits >> 16 == high) counts[bits & 0xffffu]++;
    }
    while (left >= counts[low]) left -= counts[low++];
    const uint32_t bits = high << 16 | low;
    float median;
    memcpy(&median, &bits, 4);
    const float s = 1.0f / (median > EPS ? median : EPS);
    *scale = s;
    for (int i = 0; i < n; i++) {
        float r = rintf(w[i] * s);
        r = r > 1.0f ? 1.0f : r;
        codes[i] = (int8_t)(int32_t)(r < -1.0f ? -1.0f : r);
    }
}

/* Lazy Adam on some rows of a table [vocabulary, d]: only the rows given move. */
void tern_adam_rows(float *table, float *first, float *second, int32_t *count, const int64_t *rows,
                    const float *grad, int n, int d, float lr, float beta1, float beta2) {
    for (int i = 0; i < n; i++) {
        const size_t at = (size_t)rows[i] * d;
        const float seen = (float)++count[rows[i]];
        const float c1 = 1.0f / (1.0f - powf(beta1, seen)), c2 = 1.0f / (1.0f - powf(beta2, seen));
        for (int j = 0; j < d; j++) {
            const float g = grad[(size_t)i * d + j];
            const float a = first[at + j] = beta1 * first[at + j] + (1.0f - beta1) * g;
            const float b = second[at + j] = beta2 * second[at + j] + (1.0f - beta2) * g * g;
            table[at + j] -= lr * a * c1 / (sqrtf(b * c2) + 1e-8f);
        }
    }
}

/* sums[slot[i]] += dx[i] for every row i. */
void tern_gather_rows(const float *dx, const int64_t *slot, int m, int d, float *sums) {
    for (int i = 0; i < m; i++) {
        float *to = sums + (size_t)slot[i] * d;
        for (int j = 0; j < d; j++) to[j] += dx[(size_t)i * d + j];
    }
}
