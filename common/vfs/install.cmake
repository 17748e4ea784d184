# A game includes <galley_vfs.h>, and sees no other header.
configure_file(galley_vfs.h ${CMAKE_CURRENT_BINARY_DIR}/include/galley_vfs.h COPYONLY)
target_include_directories(galley_vfs INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/include>)

# `cmake --install build --component galley_vfs --prefix DIR`: the header, the archive, and galley_vfs.pc, which finds both wherever DIR is moved to. A plain
# install and the Debian package are for those who cook.
include(GNUInstallDirs)
file(RELATIVE_PATH GALLEY_VFS_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
list(TRANSFORM system_libraries PREPEND " -l" OUTPUT_VARIABLE GALLEY_VFS_SYSTEM_LIBRARIES)
configure_file(galley_vfs.pc.in galley_vfs.pc @ONLY)
install(TARGETS galley_vfs ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT galley_vfs EXCLUDE_FROM_ALL)
install(FILES galley_vfs.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT galley_vfs EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/galley_vfs.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT galley_vfs EXCLUDE_FROM_ALL)
