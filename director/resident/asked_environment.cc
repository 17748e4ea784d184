#include "director/resident/asked_environment.h"

#include <random>
#include <string_view>

#include "common/base/digest.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr int kSaltWords = 4;
constexpr std::string_view kAnotherValue = "another value";

std::string NewSalt() {
  std::random_device random;
  std::string salt;
  for (int i = 0; i < kSaltWords; ++i) salt += fmt::format("{:08x}", random());
  return salt;
}

std::string Seal(std::string_view salt, std::string_view name, std::string_view value) {
  return Digest::Of(fmt::format("{}{}={}", salt, name, value)).ToString();
}

}  // namespace

DifferingVariables DifferingOf(const std::map<std::string, std::string>& ours,
                               const v1::CookAsk& ask) {
  DifferingVariables differing;
  for (const auto& [name, value] : ours) {
    const auto plain = ask.environment().find(name);
    const auto sealed = ask.environment_digests().find(name);
    if (plain != ask.environment().end()) {
      if (plain->second != value) differing[name] = ValueText(plain->second);
    } else if (sealed == ask.environment_digests().end()) {
      differing[name] = kUnsetText;
    } else if (sealed->second != Seal(ask.environment_salt(), name, value)) {
      differing[name] = kAnotherValue;
    }
  }
  for (const auto& [name, value] : ask.environment()) {
    if (!ours.contains(name)) differing[name] = ValueText(value);
  }
  for (const auto& [name, digest] : ask.environment_digests()) {
    if (!ours.contains(name)) differing[name] = kAnotherValue;
  }
  return differing;
}

void SealEnvironment(v1::CookAsk& ask) {
  ask.set_environment_salt(NewSalt());
  for (const auto& [name, value] : ask.environment())
    (*ask.mutable_environment_digests())[name] = Seal(ask.environment_salt(), name, value);
  ask.clear_environment();
}

}  // namespace galley::director
