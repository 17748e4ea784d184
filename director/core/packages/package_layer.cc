#include "director/core/packages/package_layer.h"

#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {

PackageLayer::PackageLayer(const CookOptions& cook_options, std::shared_ptr<const Catalog> catalog)
    : options(cook_options),
      step{.catalog = std::move(catalog), .platform_count = cook_options.platform_count} {
  GALLEY_CHECK(step.platform_count >= 1 && step.platform_count <= 32);
  GALLEY_CHECK(step.catalog != nullptr);
  GALLEY_CHECK(options.silence_max > absl::ZeroDuration() &&
               options.silence_max < absl::InfiniteDuration());
}

}  // namespace galley::director
