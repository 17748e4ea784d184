// A galley.toml of any bytes: an error or a project, never a crash.
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/project/project.h"
#include "fmt/format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Every process has its own folder, so that several run beside each other. The folder is in
  // /dev/shm since the file is written again for each input.
  static const std::string& folder =
      *new std::string(galley::MakeTemporaryDirectory("/dev/shm", "galley-fuzz-").value());
  static const bool is_registered = std::atexit([] { (void)galley::RemoveAll(folder); }) == 0;
  GALLEY_CHECK(is_registered);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  GALLEY_CHECK(
      galley::WriteFileAtomic(galley::JoinPath(folder, galley::project::kProjectFile), bytes).ok());
  const auto project = galley::project::LoadProject({.directory = folder});
  if (project.ok())
    GALLEY_CHECK(!project->platforms.empty() &&
                 project->platforms.size() <= galley::project::kPlatformsMax);
  return 0;
}
