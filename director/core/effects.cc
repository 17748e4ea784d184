#include "director/core/effects.h"

namespace galley::director {

std::string_view FailureCauseName(FailureCause cause) {
  switch (cause) {
    case FailureCause::kProject:
      return "project";
    case FailureCause::kVerdict:
      return "verdict";
    case FailureCause::kPackage:
      return "package";
    case FailureCause::kLimit:
      return "limit";
    case FailureCause::kRefused:
      return "refused";
    case FailureCause::kMachine:
      return "machine";
    case FailureCause::kUnread:
      return "unread";
    case FailureCause::kUnproven:
      return "unproven";
  }
  return "project";
}

}  // namespace galley::director
