// Replay: runs a fuzzer's function over every file of the given folders, so that corpora run as
// plain tests, without libFuzzer. Exit code 1: a folder cannot be read, or no file was found. A
// failure of the function ends the process; its file was named before.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator entry(argv[i], error), end;
         !error && entry != end; entry.increment(error)) {
      if (entry->is_regular_file(error)) files.push_back(entry->path().string());
    }
    if (error) {
      fmt::print(stderr, "{}: {}\n", argv[i], error.message());
      return 1;
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const absl::StatusOr<std::string> bytes = galley::ReadFile(file);
    if (!bytes.ok()) {
      fmt::print(stderr, "{}\n", bytes.status().ToString());
      return 1;
    }
    fmt::print("{}\n", file);
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
  }
  fmt::print("{} inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
