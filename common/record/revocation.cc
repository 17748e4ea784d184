#include "common/record/revocation.h"

#include <algorithm>
#include <cstdint>

#include "common/base/errors.h"
#include "common/base/parse_whole.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::record {
namespace {

constexpr std::string_view kKind = "galley-revoked";
constexpr int kVersion = 1;
constexpr std::string_view kAlways = "-";  // in place of a time: since ever

std::string TimeText(absl::Time time) {
  return time == absl::InfinitePast() ? std::string(kAlways)
                                      : fmt::format("{}", absl::ToUnixMicros(time));
}

absl::StatusOr<absl::Time> TimeOf(std::string_view text) {
  if (text == kAlways) return absl::InfinitePast();
  const auto us = ParseWhole<int64_t>(text);
  if (!us) return DataLossError("`{}` is no time", text);
  return absl::FromUnixMicros(*us);
}

bool IsMaker(const Provenance& made, std::string_view worker) {
  if (worker == made.worker || worker == made.machine) return true;
  return worker.size() == made.worker.size() + 1 + made.machine.size() &&
         worker.starts_with(made.worker) && worker[made.worker.size()] == '@' &&
         worker.ends_with(made.machine);
}

// The text before the first blank, which is taken off.
std::string_view NextWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace

absl::Time TakenAt(const Provenance& made) {
  return made.taken == absl::InfinitePast() ? made.started : made.taken;
}

bool IsRevoked(const Provenance& made, const Revocation& by) {
  if (by.worker.empty() || !IsMaker(made, by.worker)) return false;
  const absl::Time taken = TakenAt(made);
  return taken >= by.since && taken <= by.until;
}

bool IsRevoked(const Provenance& made, std::span<const Revocation> by) {
  return std::ranges::any_of(by, [&](const Revocation& one) { return IsRevoked(made, one); });
}

std::string EncodeRevocations(std::span<const Revocation> all) {
  std::vector<SealedLine> lines;
  for (const Revocation& one : all)
    lines.push_back(
        {"revoked", fmt::format("{} {} {}", TimeText(one.since), TimeText(one.until), one.worker)});
  return Seal(kKind, kVersion, lines);
}

absl::StatusOr<std::vector<Revocation>> DecodeRevocations(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<SealedLine> lines, Unseal(kKind, kVersion, text));
  std::vector<Revocation> all;
  for (const SealedLine& line : lines) {
    if (line.key != "revoked") continue;
    std::string_view rest = line.value;
    Revocation one;
    ASSIGN_OR_RETURN(one.since, TimeOf(NextWord(rest)));
    ASSIGN_OR_RETURN(one.until, TimeOf(NextWord(rest)));
    one.worker = rest;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace galley::record
