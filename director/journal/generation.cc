#include "director/journal/generation.h"

#include <random>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kGenerationKind = "galley-generation";
constexpr int kGenerationVersion = 1;
constexpr uint64_t kBytesMax = 4096;

std::string FileOf(const std::string& state_directory) {
  return JoinPath(state_directory, "generation");
}

std::string NewName() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) name += fmt::format("{:08x}", random());
  return name;
}

}  // namespace

JournalGeneration::JournalGeneration(std::string state_directory)
    : state_directory_(std::move(state_directory)) {}

std::string JournalGeneration::Read(const std::string& state_directory) {
  const absl::StatusOr<std::string> text = ReadFile(FileOf(state_directory), kBytesMax);
  if (!text.ok()) return "";
  const auto lines = Unseal(kGenerationKind, kGenerationVersion, *text);
  return lines.ok() ? std::string(ValueOf(*lines, "name")) : "";
}

std::string JournalGeneration::ReadReason(const std::string& state_directory) {
  const absl::StatusOr<std::string> text = ReadFile(FileOf(state_directory), kBytesMax);
  if (!text.ok()) return "";
  const auto lines = Unseal(kGenerationKind, kGenerationVersion, *text);
  return lines.ok() ? std::string(ValueOf(*lines, "why")) : "";
}

absl::Status JournalGeneration::Write(std::string_view why) {
  const std::string file = FileOf(state_directory_);
  RETURN_IF_ERROR(EnsureWritableFile(file));
  return WriteFileAtomic(
      file,
      Seal(kGenerationKind, kGenerationVersion, {{"name", NewName()}, {"why", std::string(why)}}),
      /*sync=*/true);
}

absl::StatusOr<std::string> JournalGeneration::Rely() {
  const base::MutexLock lock(mutex_);
  if (std::string name = Read(state_directory_); !name.empty()) {
    is_relied_on_ = true;
    return name;
  }
  RETURN_IF_ERROR(Write(""));
  is_relied_on_ = true;
  return Read(state_directory_);
}

absl::Status JournalGeneration::Move(std::string_view why) {
  const base::MutexLock lock(mutex_);
  if (!is_relied_on_) return absl::OkStatus();
  RETURN_IF_ERROR(Write(why));
  is_relied_on_ = false;
  return absl::OkStatus();
}

}  // namespace galley::director
