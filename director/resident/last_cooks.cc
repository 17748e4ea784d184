#include "director/resident/last_cooks.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "director/host/cook_numbers.h"

namespace galley::director {
namespace {

constexpr std::string_view kKind = "galley-last-cooks";
constexpr int kVersion = 1;
constexpr std::string_view kKey = "cook";
constexpr uint64_t kFileBytesMax = 1 << 20;
// A person reads the texts in a table.
constexpr size_t kTextBytesMax = 1'000;

std::vector<v1::EndedCook> Read(const std::string& file) {
  std::vector<v1::EndedCook> cooks;
  const auto text = ReadFile(file, kFileBytesMax);
  if (!text.ok()) return cooks;
  const auto lines = Unseal(kKind, kVersion, *text);
  if (!lines.ok()) return cooks;
  for (const SealedLine& line : *lines) {
    v1::EndedCook cook;
    const bool is_one = line.key == kKey && cook.ParseFromString(line.value);
    if (is_one && cooks.size() < LastCooks::kKept) cooks.push_back(std::move(cook));
  }
  return cooks;
}

absl::Status Write(const std::string& file, const std::vector<v1::EndedCook>& cooks) {
  std::vector<SealedLine> lines;
  for (const v1::EndedCook& cook : cooks)
    lines.push_back({std::string(kKey), cook.SerializeAsString()});
  RETURN_IF_ERROR(MakeOwnFolder(file.substr(0, file.rfind('/'))));
  RETURN_IF_ERROR(EnsureWritableFile(file));
  return WritePrivateFile(file, Seal(kKind, kVersion, lines));
}

}  // namespace

LastCooks::LastCooks(const std::string& state_directory)
    : file_(JoinPath(JoinPath(state_directory, kCooksFolder), "ended")), cooks_(Read(file_)) {}

void LastCooks::Add(const v1::EndedCook& cook) {
  base::MutexLock lock(mutex_);
  std::erase_if(cooks_, [&](const v1::EndedCook& one) {
    return cook.cook() != 0 && one.cook() == cook.cook();
  });
  v1::EndedCook& added = *cooks_.insert(cooks_.begin(), cook);
  for (std::string* text : {added.mutable_what(), added.mutable_asked_by(), added.mutable_why()})
    if (text->size() > kTextBytesMax) text->resize(kTextBytesMax);
  if (cooks_.size() > kKept) cooks_.resize(kKept);
  if (const absl::Status written = Write(file_, cooks_); !written.ok())
    LogWarning("cook={} is not kept among the last ones: {}", cook.cook(), MessageOf(written));
}

std::vector<v1::EndedCook> LastCooks::All() const {
  base::MutexLock lock(mutex_);
  return cooks_;
}

void SetEnd(const CookReport& report, absl::Duration took, v1::EndedCook& cook) {
  cook.set_took_us(absl::ToInt64Microseconds(took));
  cook.set_exit_code(ExitCodeOf(report));
  if (!report.end.ok()) cook.set_why(std::string(MessageOf(report.end)));
  if (!report.outcome.has_value()) return;
  const Counters& counters = report.outcome->counters;
  cook.set_cooked(counters.results_cooked);
  cook.set_cached(counters.results_cached + counters.results_up_to_date);
  cook.set_failed(counters.results_failed);
  if (cook.why().empty()) cook.set_why(report.outcome->ended.infrastructure_error);
}

}  // namespace galley::director
