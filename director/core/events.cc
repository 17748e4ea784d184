#include "director/core/events.h"

namespace galley::director {

std::string_view StageName(Stage stage) {
  switch (stage) {
    case Stage::kRequest:
      return "request";
    case Stage::kLoad:
      return "load";
    case Stage::kSave:
      return "save";
    case Stage::kCommit:
      return "commit";
    case Stage::kStage:
      return "stage";
  }
  return "save";
}

std::string_view CookClassName(CookClass of) {
  switch (of) {
    case CookClass::kNow:
      return "now";
    case CookClass::kCommit:
      return "commit";
    case CookClass::kNightly:
      return "nightly";
    case CookClass::kAhead:
      return "ahead";
  }
  return "nightly";
}

}  // namespace galley::director
