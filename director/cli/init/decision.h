// Decision: what is to be done with a file, and why.
#pragma once

#include <string>
#include <utility>

namespace galley::init {

enum class Action {
  kCook,      // by a cooker that converts the file
  kCopy,      // by the cooker `copy`
  kRead,      // no package: cooks of other files read the file
  kRename,    // the name cannot be a package's: a cook fails or warns
  kLeaveOut,  // no package: no game loads the file
};

struct Decision {
  Action action = Action::kCopy;
  std::string cooker;    // kCook: "texture"; kCopy: "copy"
  std::string settings;  // in the words of galley.toml: `usage = "normal"`; "": none
  std::string reason;
};

inline bool IsPackage(const Decision& decision) {
  return decision.action == Action::kCook || decision.action == Action::kCopy;
}

inline Decision CookBy(std::string cooker, std::string reason) {
  return {Action::kCook, std::move(cooker), {}, std::move(reason)};
}
inline Decision Copy(std::string reason) { return {Action::kCopy, "copy", {}, std::move(reason)}; }
inline Decision ReadByOthers(std::string reason) {
  return {Action::kRead, {}, {}, std::move(reason)};
}
inline Decision Rename(std::string reason) { return {Action::kRename, {}, {}, std::move(reason)}; }
inline Decision LeaveOut(std::string reason) {
  return {Action::kLeaveOut, {}, {}, std::move(reason)};
}

}  // namespace galley::init
