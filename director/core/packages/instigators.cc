#include "director/core/packages/instigators.h"

#include <array>

namespace galley::director {

namespace {

Urgency UrgencyOf(CookClass of_class) {
  switch (of_class) {
    case CookClass::kNow:
      return Urgency::kBlocking;
    case CookClass::kCommit:
      return Urgency::kHigh;
    case CookClass::kNightly:
      return Urgency::kNormal;
    case CookClass::kAhead:
      return Urgency::kLow;
  }
  return Urgency::kNormal;
}

}  // namespace

Urgency UrgencyOf(CookClass of_class, InstigatorCategory category) {
  const Urgency urgency = UrgencyOf(of_class);
  switch (category) {
    case InstigatorCategory::kStartupPackage:
    case InstigatorCategory::kCommandLinePackage:
    case InstigatorCategory::kCommandLineDirectory:
    case InstigatorCategory::kCookMap:
    case InstigatorCategory::kIniMapSection:
    case InstigatorCategory::kAlwaysCookMap:
      return urgency == Urgency::kNormal ? Urgency::kAsked : urgency;
    case InstigatorCategory::kCookOnTheFly:
      return Urgency::kBlocking;
    case InstigatorCategory::kSpeculative:
      return Urgency::kLow;
    case InstigatorCategory::kHardDependency:
    case InstigatorCategory::kSoftDependency:
    case InstigatorCategory::kBuildDependency:
    case InstigatorCategory::kGeneratedPackage:
    case InstigatorCategory::kCulture:
    case InstigatorCategory::kAssetManagerModifyCook:
    case InstigatorCategory::kIterativeCook:
    case InstigatorCategory::kUnsolicited:
      return urgency;
  }
  return urgency;
}

std::string_view UrgencyName(Urgency urgency) {
  switch (urgency) {
    case Urgency::kSpare:
      return "spare";
    case Urgency::kLow:
      return "low";
    case Urgency::kNormal:
      return "normal";
    case Urgency::kAsked:
      return "asked";
    case Urgency::kHigh:
      return "high";
    case Urgency::kBlocking:
      return "blocking";
  }
  return "";
}

std::string_view CategoryName(InstigatorCategory category) {
  constexpr std::array<std::string_view, 16> kNames = {"StartupPackage",
                                                       "CommandLinePackage",
                                                       "CommandLineDirectory",
                                                       "CookMap",
                                                       "IniMapSection",
                                                       "AlwaysCookMap",
                                                       "HardDependency",
                                                       "SoftDependency",
                                                       "BuildDependency",
                                                       "GeneratedPackage",
                                                       "Culture",
                                                       "AssetManagerModifyCook",
                                                       "IterativeCook",
                                                       "CookOnTheFly",
                                                       "Speculative",
                                                       "Unsolicited"};
  return kNames[static_cast<size_t>(category)];
}

}  // namespace galley::director
