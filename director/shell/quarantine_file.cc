#include "director/shell/quarantine_file.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kQuarantineKind = "galley-quarantine";
constexpr int kQuarantineVersion = 1;
constexpr uint64_t kQuarantineBytesMax = 16 << 20;

bool IsSameWorker(const QuarantinedWorker& a, const QuarantinedWorker& b) {
  return a.worker == b.worker && a.machine == b.machine;
}

absl::Time SinceOf(std::string_view text) {
  int64_t us = 0;
  std::from_chars(text.data(), text.data() + text.size(), us);
  return absl::FromUnixMicros(us);
}

}  // namespace

QuarantineFile::QuarantineFile(const std::string& state_directory)
    : path_(JoinPath(state_directory, "quarantine")) {}

absl::StatusOr<std::vector<QuarantinedWorker>> QuarantineFile::Read() const {
  std::vector<QuarantinedWorker> all;
  const absl::StatusOr<std::string> text = ReadOwnFile(path_, kQuarantineBytesMax);
  if (absl::IsNotFound(text.status())) return all;
  if (!text.ok()) return Annotate(text.status(), path_);
  const auto lines = Unseal(kQuarantineKind, kQuarantineVersion, *text);
  if (!lines.ok()) {
    LogError("{}: {}; which workers were quarantined is not known any more", path_,
             MessageOf(lines.status()));
    return all;
  }
  for (const SealedLine& line : *lines) {
    if (line.key == "worker") {
      all.push_back({.worker = line.value});
    } else if (all.empty()) {
      continue;
    } else if (line.key == "machine") {
      all.back().machine = line.value;
    } else if (line.key == "why") {
      all.back().why = line.value;
    } else if (line.key == "since_us") {
      all.back().since = SinceOf(line.value);
    }
  }
  return all;
}

absl::Status QuarantineFile::Write(const std::vector<QuarantinedWorker>& all) const {
  std::vector<SealedLine> lines;
  for (const QuarantinedWorker& one : all) {
    lines.push_back({"worker", one.worker});
    lines.push_back({"machine", one.machine});
    lines.push_back({"why", one.why});
    lines.push_back({"since_us", fmt::format("{}", absl::ToUnixMicros(one.since))});
  }
  return WritePrivateFile(path_, Seal(kQuarantineKind, kQuarantineVersion, lines));
}

absl::StatusOr<std::vector<QuarantinedWorker>> QuarantineFile::All() const {
  ASSIGN_OR_RETURN(std::vector<QuarantinedWorker> all, Read());
  const base::MutexLock lock(mutex_);
  all.insert(all.end(), unwritten_.begin(), unwritten_.end());
  return all;
}

absl::StatusOr<std::string> QuarantineFile::WhyOf(std::string_view worker, std::string_view machine,
                                                  bool is_launched) const {
  ASSIGN_OR_RETURN(const std::vector<QuarantinedWorker> all, All());
  for (const QuarantinedWorker& one : all) {
    if (one.worker == worker && (!is_launched || one.machine == machine)) return one.why;
  }
  return std::string();
}

absl::Status QuarantineFile::Add(const QuarantinedWorker& one) {
  auto all = Read();
  absl::Status written = all.status();
  if (all.ok()) {
    std::erase_if(*all, [&](const QuarantinedWorker& other) { return IsSameWorker(one, other); });
    all->push_back(one);
    written = Annotate(Write(*all), path_);
  }
  if (!written.ok()) AddHere(one);
  return written;
}

void QuarantineFile::AddHere(const QuarantinedWorker& one) {
  const base::MutexLock lock(mutex_);
  unwritten_.push_back(one);
}

absl::StatusOr<std::vector<QuarantinedWorker>> QuarantineFile::Remove(std::string_view worker) {
  ASSIGN_OR_RETURN(std::vector<QuarantinedWorker> all, Read());
  std::vector<QuarantinedWorker> stay, gone;
  for (QuarantinedWorker& one : all) {
    const bool is_meant =
        one.worker == worker || fmt::format("{}@{}", one.worker, one.machine) == worker;
    (is_meant ? gone : stay).push_back(std::move(one));
  }
  if (gone.empty())
    return NotFoundError(
        "no worker \"{}\" is quarantined here; `galley readmit` names those that are", worker);
  RETURN_IF_ERROR(Write(stay));
  return gone;
}

}  // namespace galley::director
