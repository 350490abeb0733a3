/* relu.wasm: runs a model of one input and one output through wasi-nn, and prints the output or what failed.
 *
 *     iwasm --dir=. relu.wasm onnx relu.onnx            the model's bytes, read by this program
 *     iwasm --dir=. relu.wasm openvino relu.xml relu.bin
 *     iwasm relu.wasm onnx --by-name /models/relu.onnx  a file that the backend reads
 *
 * Several models may follow each other: `onnx relu.onnx openvino relu.xml relu.bin`. Exit status: wasi-nn's error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wasi_ephemeral_nn.h"

enum { COUNT = 4, LARGEST = 1 << 16 };

typedef struct file {
  uint8_t* bytes;
  uint32_t size;
} file;

static file read_file(const char* path) {
  file read = {malloc(LARGEST), 0};
  FILE* stream = fopen(path, "rb");
  if (!stream || !read.bytes) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(99);
  }
  read.size = (uint32_t)fread(read.bytes, 1, LARGEST, stream);
  fclose(stream);
  return read;
}

static int check(const char* step, int error) {
  if (error) printf("%s: error %d\n", step, error);
  return error;
}

static int load(int count, char** words, wasi_ephemeral_nn_graph* graph) {
  int encoding = strcmp(words[0], "onnx") == 0       ? wasi_ephemeral_nn_encoding_onnx
                 : strcmp(words[0], "openvino") == 0 ? wasi_ephemeral_nn_encoding_openvino
                                                     : atoi(words[0]);
  if (strcmp(words[1], "--by-name") == 0)
    return check("load_by_name", wasi_ephemeral_nn_load_by_name(words[2], (uint32_t)strlen(words[2]), graph));
  wasi_ephemeral_nn_graph_builder parts[2];
  for (int i = 0; i < count - 1; i++) {
    file read = read_file(words[i + 1]);
    parts[i].buf = read.bytes;
    parts[i].size = read.size;
  }
  return check("load",
               wasi_ephemeral_nn_load(parts, (uint32_t)count - 1, encoding, wasi_ephemeral_nn_target_cpu, graph));
}

static int run(wasi_ephemeral_nn_graph graph) {
  float input[COUNT] = {-2, -1, 1, 2}, output[COUNT] = {0};
  uint32_t shape[] = {1, COUNT}, size = 0;
  wasi_ephemeral_nn_graph_execution_context context;
  wasi_ephemeral_nn_tensor tensor = {{shape, 2}, wasi_ephemeral_nn_type_fp32, {0}, {(uint8_t*)input, sizeof input}};
  int error = check("init_execution_context", wasi_ephemeral_nn_init_execution_context(graph, &context));
  if (!error) error = check("set_input", wasi_ephemeral_nn_set_input(context, 0, &tensor));
  if (!error) error = check("compute", wasi_ephemeral_nn_compute(context));
  if (!error)
    error =
        check("get_output of another", wasi_ephemeral_nn_get_output(context, 7, (uint8_t*)output, 1, &size)) ? 0 : 98;
  if (!error)
    error = check("get_output", wasi_ephemeral_nn_get_output(context, 0, (uint8_t*)output, sizeof output, &size));
  if (!error) printf("%g %g %g %g, %u bytes\n", output[0], output[1], output[2], output[3], size);
  return error;
}

int main(int count, char** words) {
  int first = 1, error = count < 3;
  while (first + 1 < count && !error) {
    int parts = strcmp(words[first], "openvino") == 0 || strcmp(words[first + 1], "--by-name") == 0 ? 3 : 2;
    wasi_ephemeral_nn_graph graph;
    printf("%s: ", words[first]);
    error = load(parts, words + first, &graph);
    if (!error) error = run(graph);
    first += parts;
  }
  return error;
}
