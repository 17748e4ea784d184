# `cmake --build --preset release --target package` makes galley_<version>_<architecture>.deb in the build folder: what `cmake --install` puts
# into a folder, with units for systemd and what Debian's policy asks for (deploy/debian). Its libraries are the packages that dpkg-shlibdeps finds.
# The same programs and SOURCE_DATE_EPOCH make the same bytes.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME galley)
set(CPACK_PACKAGE_CONTACT "Galley developers <galley@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "distributed cooker of game assets")
set(CPACK_PACKAGE_DESCRIPTION "Galley turns a tree of sources (PNG, glTF, GLSL, WAV, JSON, and whatever a
program of yours reads) into the trees that a game loads, one for each target
platform. A director decides what must be cooked and why, workers cook in
their own processes, on this machine and on others, and a content-addressed
store keeps all results, so that nothing is cooked twice.")
set(CPACK_PACKAGE_VENDOR "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_SET_DESTDIR FALSE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS TRUE)
# The account of the services, which any of these makes.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "git, openssh-client, slurm-client, kubernetes-client")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/deploy/debian/postinst ${CMAKE_SOURCE_DIR}/deploy/debian/prerm
  ${CMAKE_SOURCE_DIR}/deploy/debian/postrm ${CMAKE_SOURCE_DIR}/deploy/debian/conffiles)
# What has a place in Debian only is not for `cmake --install`.
set(CPACK_GALLEY_SOURCE_DIR ${CMAKE_SOURCE_DIR})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/deploy/debian/lay-out.cmake)
include(CPack)
