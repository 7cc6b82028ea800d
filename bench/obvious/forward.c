/*
 * The forward pass of this model as one writes it first when SIMD is at hand: int8 weights, one dot
 * product at a time, scalar layer norm, softmax and GELU. The peer against which the engine's kernels
 * show what they bring. It reads the same .bin and must agree with the same reference.
 *
 * Nothing here is slow on purpose: weights are unpacked once, a product widens sixteen bytes at a
 * time and keeps four sums, and attention's products run over four floats.
 */
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define PAGE 65536u
#define MOST_LAYERS 8
#define HEADER_BYTES 32
#define INT4_TABLE 3
#define EPS 1e-5f

typedef struct {
  const int8_t *weights; /* [outputs, inputs] */
  const float *bias;     /* [outputs], or NULL */
  float scale;
  int outputs, inputs;
} Linear;

typedef struct {
  const float *weight, *bias;
} Norm;

typedef struct {
  Norm before_attention, before_feed_forward;
  Linear q, k, v, out, up, down;
} Layer;

static struct {
  int vocab, dim, layers, heads, ffn, output, most_tokens;
  const uint8_t *table;      /* [vocab, dim / 2], two int4 a byte */
  const float *table_scales; /* [vocab] */
  Layer layer[MOST_LAYERS];
  Norm last;
  const float *project, *project_bias; /* [output, dim], [output] */
} model;

/* Rows of a text of most_tokens tokens. */
static struct {
  float *x, *normal, *q, *k, *v, *mixed; /* [tokens, dim] */
  float *hidden;                         /* [tokens, ffn] */
  float *score;                          /* [tokens] */
  int8_t *quantized;                     /* [tokens, ffn] */
  float *rescale;                        /* [tokens] */
  float *vector;                         /* [output] */
} rows;

extern unsigned char __heap_base;
static uintptr_t heap;

/* Memory for ever, aligned to 16 bytes; NULL when the host gives no more. */
EXPORT(reserve) void *reserve(uint32_t bytes) {
  if (heap == 0) heap = (uintptr_t)&__heap_base;
  uintptr_t start = (heap + 15) & ~(uintptr_t)15;
  heap = start + bytes;
  uintptr_t have = __builtin_wasm_memory_size(0) * (uintptr_t)PAGE;
  if (heap > have) {
    if (__builtin_wasm_memory_grow(0, (heap - have + PAGE - 1) / PAGE) == (size_t)-1) return NULL;
  }
  return (void *)start;
}

/* e to the power x, for x <= 0: 2^n times a polynomial of the rest, relative error 1e-7. */
static float exponential(float x) {
  if (x < -87.0f) return 0.0f;
  float n = __builtin_rintf(x * 1.44269504f);
  float r = x - n * 0.693359375f + n * 2.12194440e-4f;
  float sum = 1.0f / 5040;
  sum = sum * r + 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  union {
    int32_t bits;
    float value;
  } power = {((int32_t)n + 127) << 23};
  return sum * power.value;
}

/* Abramowitz and Stegun, 7.1.26: absolute error 1.5e-7. */
static float error_function(float x) {
  float a = __builtin_fabsf(x);
  float t = 1.0f / (1.0f + 0.3275911f * a);
  float sum = 1.061405429f;
  sum = sum * t - 1.453152027f;
  sum = sum * t + 1.421413741f;
  sum = sum * t - 0.284496736f;
  sum = sum * t + 0.254829592f;
  float y = 1.0f - sum * t * exponential(-a * a);
  return x < 0 ? -y : y;
}

static int32_t sum_of_lanes(v128_t v) {
  return wasm_i32x4_extract_lane(v, 0) + wasm_i32x4_extract_lane(v, 1) +
         wasm_i32x4_extract_lane(v, 2) + wasm_i32x4_extract_lane(v, 3);
}

static int32_t dot_int8(const int8_t *x, const int8_t *w, int count) {
  v128_t sum = wasm_i32x4_splat(0);
  for (int i = 0; i < count; i += 16) {
    v128_t a = wasm_v128_load(x + i), b = wasm_v128_load(w + i);
    v128_t low = wasm_i16x8_extmul_low_i8x16(a, b), high = wasm_i16x8_extmul_high_i8x16(a, b);
    sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(low));
    sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(high));
  }
  return sum_of_lanes(sum);
}

static float dot_float(const float *x, const float *y, int count) {
  v128_t sum = wasm_f32x4_splat(0);
  for (int i = 0; i < count; i += 4) {
    sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_v128_load(x + i), wasm_v128_load(y + i)));
  }
  return wasm_f32x4_extract_lane(sum, 0) + wasm_f32x4_extract_lane(sum, 1) +
         wasm_f32x4_extract_lane(sum, 2) + wasm_f32x4_extract_lane(sum, 3);
}

/* y = (x - mean) / sqrt(variance + EPS) of one row; y may be x. */
static void normalize(const float *x, float *y, int count) {
  float mean = 0;
  for (int i = 0; i < count; i++) mean += x[i];
  mean /= count;
  float variance = 0;
  for (int i = 0; i < count; i++) variance += (x[i] - mean) * (x[i] - mean);
  float scale = 1.0f / __builtin_sqrtf(variance / count + EPS);
  for (int i = 0; i < count; i++) y[i] = (x[i] - mean) * scale;
}

static void layer_norm(const float *x, float *y, int tokens, Norm norm) {
  for (int t = 0; t < tokens; t++, x += model.dim, y += model.dim) {
    normalize(x, y, model.dim);
    for (int i = 0; i < model.dim; i++) y[i] = y[i] * norm.weight[i] + norm.bias[i];
  }
}

/* Rows of floats -> rows.quantized and rows.rescale. The rows of x are normalized in place. */
static void quantize(float *x, int tokens, int count) {
  for (int t = 0; t < tokens; t++, x += count) {
    normalize(x, x, count);
    float most = EPS;
    for (int i = 0; i < count; i++) {
      if (__builtin_fabsf(x[i]) > most) most = __builtin_fabsf(x[i]);
    }
    float scale = 128.0f / most;
    int8_t *to = rows.quantized + t * count;
    for (int i = 0; i < count; i++) {
      int32_t value = (int32_t)__builtin_rintf(x[i] * scale);
      to[i] = (int8_t)(value > 127 ? 127 : value < -128 ? -128 : value);
    }
    rows.rescale[t] = scale;
  }
}

/* y = bit-linear of what quantize() left, added to what y holds where `add` is set. */
static void multiply(float *y, int tokens, const Linear *linear, int add) {
  for (int t = 0; t < tokens; t++, y += linear->outputs) {
    const int8_t *x = rows.quantized + t * linear->inputs;
    float scale = 1.0f / (linear->scale * rows.rescale[t]);
    for (int n = 0; n < linear->outputs; n++) {
      float sum = (float)dot_int8(x, linear->weights + n * linear->inputs, linear->inputs);
      float value = (linear->bias ? sum + linear->bias[n] : sum) * scale;
      y[n] = add ? y[n] + value : value;
    }
  }
}

static void attend(int tokens) {
  int size = model.dim / model.heads;
  float root = 1.0f / __builtin_sqrtf((float)size);
  for (int t = 0; t < tokens; t++) {
    for (int at = 0; at < model.dim; at += size) {
      float most = -3.4e38f, sum = 0;
      for (int s = 0; s < tokens; s++) {
        rows.score[s] = root * dot_float(rows.q + t * model.dim + at, rows.k + s * model.dim + at, size);
        if (rows.score[s] > most) most = rows.score[s];
      }
      for (int s = 0; s < tokens; s++) {
        rows.score[s] = exponential(rows.score[s] - most);
        sum += rows.score[s];
      }
      float *to = rows.mixed + t * model.dim + at;
      for (int i = 0; i < size; i++) to[i] = 0;
      for (int s = 0; s < tokens; s++) {
        float weight = rows.score[s] / sum;
        const float *from = rows.v + s * model.dim + at;
        for (int i = 0; i < size; i++) to[i] += weight * from[i];
      }
    }
  }
}

static void look_up(uint32_t id, float *x) {
  const uint8_t *packed = model.table + (size_t)id * (model.dim / 2);
  float scale = model.table_scales[id];
  for (int i = 0; i < model.dim / 2; i++) {
    x[2 * i] = scale * (float)(((packed[i] & 15) ^ 8) - 8);
    x[2 * i + 1] = scale * (float)(((packed[i] >> 4) ^ 8) - 8);
  }
}

static void run_layer(const Layer *layer, int tokens) {
  layer_norm(rows.x, rows.normal, tokens, layer->before_attention);
  quantize(rows.normal, tokens, model.dim);
  multiply(rows.q, tokens, &layer->q, 0);
  multiply(rows.k, tokens, &layer->k, 0);
  multiply(rows.v, tokens, &layer->v, 0);
  attend(tokens);
  quantize(rows.mixed, tokens, model.dim);
  multiply(rows.x, tokens, &layer->out, 1);
  layer_norm(rows.x, rows.normal, tokens, layer->before_feed_forward);
  quantize(rows.normal, tokens, model.dim);
  multiply(rows.hidden, tokens, &layer->up, 0);
  for (int i = 0; i < tokens * model.ffn; i++) {
    float x = rows.hidden[i];
    rows.hidden[i] = 0.5f * x * (1.0f + error_function(x * 0.70710678f));
  }
  quantize(rows.hidden, tokens, model.ffn);
  multiply(rows.x, tokens, &layer->down, 1);
}

/* ids uint32[tokens] -> float32[output] of length 1; NULL for too many tokens or an unknown id. */
EXPORT(forward) const float *forward(const uint32_t *ids, int tokens) {
  if (tokens < 1 || tokens > model.most_tokens) return NULL;
  for (int t = 0; t < tokens; t++) {
    if (ids[t] >= (uint32_t)model.vocab) return NULL;
    look_up(ids[t], rows.x + t * model.dim);
  }
  for (int l = 0; l < model.layers; l++) run_layer(&model.layer[l], tokens);
  layer_norm(rows.x, rows.normal, tokens, model.last);
  float *mean = rows.mixed;
  for (int i = 0; i < model.dim; i++) mean[i] = 0;
  for (int t = 0; t < tokens; t++) {
    for (int i = 0; i < model.dim; i++) mean[i] += rows.normal[t * model.dim + i];
  }
  for (int i = 0; i < model.dim; i++) mean[i] /= tokens;
  float squares = 0;
  for (int n = 0; n < model.output; n++) {
    float value = dot_float(mean, model.project + n * model.dim, model.dim) + model.project_bias[n];
    rows.vector[n] = value;
    squares += value * value;
  }
  float length = __builtin_sqrtf(squares);
  for (int n = 0; n < model.output; n++) rows.vector[n] /= length > 1e-12f ? length : 1e-12f;
  return rows.vector;
}

/* The bit-linear products of a text's forward pass and nothing else, on what the last left. */
EXPORT(products) void products(int tokens) {
  for (int l = 0; l < model.layers; l++) {
    const Layer *layer = &model.layer[l];
    const Linear *square[] = {&layer->q, &layer->k, &layer->v, &layer->out};
    for (int i = 0; i < 4; i++) multiply(rows.q, tokens, square[i], 0);
    multiply(rows.hidden, tokens, &layer->up, 0);
    multiply(rows.q, tokens, &layer->down, 0);
  }
}

/* Reading the .bin: each function takes its section off `*at`. */

static const float *take_floats(const uint8_t **at, int count) {
  const float *floats = (const float *)*at;
  *at += 4 * (size_t)count;
  return floats;
}

static Norm take_norm(const uint8_t **at) {
  Norm norm = {take_floats(at, model.dim), NULL};
  norm.bias = take_floats(at, model.dim);
  return norm;
}

static Linear take_linear(const uint8_t **at, int outputs, int inputs, int has_bias) {
  static const int8_t values[4] = {0, 1, -1, 0};
  int8_t *weights = reserve((uint32_t)(outputs * inputs));
  for (int i = 0; i < outputs * inputs; i++) weights[i] = values[(*at)[i / 4] >> (2 * (i % 4)) & 3];
  *at += outputs * inputs / 4;
  Linear linear = {.weights = weights, .outputs = outputs, .inputs = inputs};
  linear.scale = *take_floats(at, 1);
  if (has_bias) linear.bias = take_floats(at, outputs);
  return linear;
}

static uint32_t u16(const uint8_t *bytes) { return bytes[0] | (uint32_t)bytes[1] << 8; }

/* Read an int4 model, which the engine has checked before; 0 when it is not one that fits. */
EXPORT(load) int load(const uint8_t *bytes) {
  model.vocab = (int)(u16(bytes + 8) | u16(bytes + 10) << 16);
  model.dim = (int)u16(bytes + 12);
  model.layers = bytes[14];
  model.heads = bytes[15];
  model.ffn = (int)u16(bytes + 16);
  model.output = (int)u16(bytes + 18);
  model.most_tokens = (int)u16(bytes + 20);
  int head = model.dim / model.heads;
  if (bytes[6] != INT4_TABLE || model.layers > MOST_LAYERS) return 0;
  if (model.dim % 16 || model.ffn % 16 || head % 4) return 0;
  const uint8_t *at = bytes + HEADER_BYTES;
  model.table = at;
  at += (size_t)model.vocab * (size_t)(model.dim / 2);
  model.table_scales = take_floats(&at, model.vocab);
  for (int l = 0; l < model.layers; l++) {
    Layer *layer = &model.layer[l];
    layer->before_attention = take_norm(&at);
    layer->q = take_linear(&at, model.dim, model.dim, 0);
    layer->k = take_linear(&at, model.dim, model.dim, 0);
    layer->v = take_linear(&at, model.dim, model.dim, 0);
    layer->out = take_linear(&at, model.dim, model.dim, 1);
    layer->before_feed_forward = take_norm(&at);
    layer->up = take_linear(&at, model.ffn, model.dim, 1);
    layer->down = take_linear(&at, model.dim, model.ffn, 1);
  }
  model.last = take_norm(&at);
  model.project = take_floats(&at, model.output * model.dim);
  model.project_bias = take_floats(&at, model.output);
  uint32_t row = 4 * (uint32_t)(model.most_tokens * model.dim);
  float **rows_of_dim[] = {&rows.x, &rows.normal, &rows.q, &rows.k, &rows.v, &rows.mixed};
  for (int i = 0; i < 6; i++) *rows_of_dim[i] = reserve(row);
  rows.hidden = reserve(4 * (uint32_t)(model.most_tokens * model.ffn));
  rows.score = reserve(4 * (uint32_t)model.most_tokens);
  rows.quantized = reserve((uint32_t)(model.most_tokens * model.ffn));
  rows.rescale = reserve(4 * (uint32_t)model.most_tokens);
  rows.vector = reserve(4 * (uint32_t)model.output);
  return rows.vector != NULL;
}
