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

/* g = bf16(dy / scale), db += dy / (weight_scale * scale). */
void tern_scale_grad(const float *dy, const float *scale, float weight_scale, int m, int d,
                     uint16_t *g, float *db) {
    const float over = 1.0f / weight_scale;
    for (int i = 0; i < m; i++) {
        const float back = 1.0f / scale[i];
        const size_t at = (size_t)i * d;
        for (int j = 0; j < d; j++) {
            const float v = dy[at + j] * back;
            g[at + j] = to_bf16(v);
            db[j] += v * over;
        }
    }
}

/* Backward through down's quantiser, gelu and up's rescale. dz is the gradient of down's product
 * input times 1/(scale_down): dz * scale_down * over_down is that of the normalised gelu. */
void tern_gelu_back(const int32_t *acc, const float *bias, const float *scale, float weight_scale,
                    const uint16_t *dz, const float *scale_down, float over_down, int m, int f,
                    uint16_t *g, float *db) {
    float h[WIDEST], u[WIDEST], slope[WIDEST], du[WIDEST];
    const float over = 1.0f / weight_scale;
    for (int i = 0; i < m; i++) {
        const float back = over / scale[i], grow = scale_down[i] * over_down;
        const size_t at = (size_t)i * f;
        for (int j = 0; j < f; j++) {
            h[j] = ((float)acc[at + j] + bias[j]) * back;
            const float phi = 0.5f * (1.0f + erf_near(h[j] * 0.70710678f));
            u[j] = h[j] * phi;
            slope[j] = phi + h[j] * 0.39894228f * expf(-0.5f * h[j] * h[j]);
            du[j] = from_bf16(dz[at + j]) * grow;
        }
        float mean, rstd;
        moments(u, f, &mean, &rstd);
        norm_back(u, f, mean, rstd, du);
        const float in = 1.0f / scale[i];
        for (int j = 0; j < f; j++) {
            const float v = du[j] * slope[j] * in;
            g[at + j] = to_bf16(v);
            db[j] += v * over;
        }
    }
}

/* Backward of quantise alone: da from dz; a is the quantiser's input. */
void tern_norm_back(const float *a, const uint16_t *dz, const float *scale, float over, int m,
                    int d, float *da) {
    for (int i = 0; i < m; i++) {
        const size_t at = (size_t)i * d;
        const float grow = scale[i] * over;
        float mean, rstd;
        for (int j = 0; j < d; j++) da[at + j] = from_bf16(dz[at + j]) * grow;
        moments(a + at, d, &mean, &rstd);
        norm_back(a + at, d, mean, rstd, da + at);
    }
}

/* Backward of quantise(LN(x; w, b)): dx += …, dw += …, db += …. */
void tern_block_back(const float *x, const float *w, const float *b, const uint16_t *dz,
                     const float *scale, float over, int m, int d, float *dx, float *dw,
                     float *db) {
    float hat[WIDEST], n[WIDEST], dn[WIDEST];
    for (int i = 0; i < m; i++) {
        const size_t at = (size_t)i * d;
        const float grow = scale[i] * over;
        float mean, rstd, mean_n, rstd_n;
        moments(x + at, d, &mean, &rstd);
        for (int j = 0; j < d; j++) {
            hat[j] = (x[at + j] - mean) * rstd;
            n[j] = hat[j] * w[j] + b[j];
            dn[j] = from_bf16(dz[at + j]) * grow;
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
static void take_head(const int32_t *acc, const float *scale, const float *over, int tokens, int d,
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

static void softmax_row(const float *q, const float *k, int tokens, int dh, float sharp, float *p) {
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

/* a = softmax(q kᵀ / sqrt(dh)) v per head; over = 1 / weight scale of q, k, v.
 * scratch: 6 * longest * dh floats, longest the most tokens of a text. */
void tern_attention(const int32_t *acc, const float *scale, const float *over,
                    const int32_t *starts, int texts, int longest, int heads, int d, float *scratch,
                    float *a) {
    const int dh = d / heads;
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

/* Backward of tern_attention: g [m, 3d] = bf16(d(q|k|v) / scale). */
void tern_attention_back(const int32_t *acc, const float *scale, const float *over,
                         const int32_t *starts, int texts, int longest, int heads, int d,
                         const float *da, float *scratch, uint16_t *g) {
    const int dh = d / heads, part = longest * dh;
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
