#include "director/cli/init/decision.h"

#include <utility>

namespace galley::init {

Decision CookBy(std::string cooker, std::string reason) {
  return {.action = Action::kCook,
          .cooker = std::move(cooker),
          .settings = {},
          .reason = std::move(reason)};
}

Decision Copy(std::string reason) {
  return {.action = Action::kCopy, .cooker = "copy", .settings = {}, .reason = std::move(reason)};
}

Decision ReadByOthers(std::string reason) {
  return {.action = Action::kRead, .cooker = {}, .settings = {}, .reason = std::move(reason)};
}

Decision Rename(std::string reason) {
  return {.action = Action::kRename, .cooker = {}, .settings = {}, .reason = std::move(reason)};
}

Decision LeaveOut(std::string reason) {
  return {.action = Action::kLeaveOut, .cooker = {}, .settings = {}, .reason = std::move(reason)};
}

}  // namespace galley::init
